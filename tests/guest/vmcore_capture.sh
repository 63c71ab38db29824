#!/bin/busybox sh
# Runs in the capture kernel: what kwalk makes of /proc/vmcore. Prints parts for vmcore.test.
part() { echo "=== $1"; shift; "$@"; echo "=== end"; }
dead="/kwalk -t /proc/vmcore"

part stat $dead cat '/proc/[0-9]*/task/[0-9]*/stat'
part status $dead cat '/proc/[0-9]*/task/[0-9]*/status'
part ps $dead ps -L --format jsonl -o pid,tid,ppid,state,nlwp,comm
part ps-pread $dead ps -L --format jsonl -o pid,tid,ppid,state,nlwp,comm --no-mmap
part info $dead info --format tsv
part segments $dead info -s --format tsv --no-headers
part segments-pread $dead info -s --format tsv --no-headers --no-mmap
$dead check --format tsv --no-headers >/tmp/check
part check-status echo $?
part check cat /tmp/check

# A monitor maps what it looks at, and no more: the page tables for all would be larger than all of what it needs.
echo 'every 0.2s for 2s { tasks select count() }' >/tmp/watch
$dead run /tmp/watch >/dev/null &
sleep 1
part mapped grep -h -e /proc/vmcore "/proc/$!/maps"
wait $!

part itself /kwalk ps -p 1 --no-headers -o pid,comm
