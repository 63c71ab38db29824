#!/bin/sh
# memory_by_user.sh [KWALK OPTIONS]: resident memory and number of processes of each user, the largest first. Needs jq.
#
# JSON has base units: rss is in bytes. A kernel thread has no memory; its null is left out, not taken for 0. Memory that
# processes share is counted once for each of them.
set -eu

rows=$("${KWALK:-kwalk}" "$@" ps --format json -o user,rss)

printf '%s\n' "$rows" | jq -r '
    map(select(.rss != null))
    | group_by(.user)
    | map({ user: .[0].user, processes: length, rss: (map(.rss) | add) })
    | sort_by(-.rss)[]
    | "\(.user)\t\(.processes) processes\t\(.rss / 1048576 | floor) MiB"'
