#!/bin/sh
# zombies.sh [KWALK OPTIONS]: every zombie, and the parent that has not waited for it.
#
#   examples/zombies.sh                    on this machine, as root
#   examples/zombies.sh -t guest.ram       in a guest's memory
#
# TSV is what awk and cut read without surprises: a tab or newline in a name is written \t or \n.
set -eu

processes=$("${KWALK:-kwalk}" "$@" ps --format tsv --no-headers -o pid,ppid,state,comm)

printf '%s\n' "$processes" | awk -F '\t' '
    { name[$1] = $4 }
    $3 == "Z" { parent[$1] = $2; zombies[++count] = $1 }
    END {
        for (i = 1; i <= count; i++) {
            pid = zombies[i]
            printf "%s (%s): its parent is %s (%s)\n", pid, name[pid], parent[pid], name[parent[pid]]
        }
    }'
