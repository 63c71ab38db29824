#!/bin/busybox sh
# Runs inside a guest, as root: forks.sh SECONDS RATE PID_MAX. A script that writes down every process that comes or goes, while
# fork_storm makes so many that their PIDs are reused. Prints what both wrote down.

echo "$3" >/proc/sys/kernel/pid_max
/kwalk run /forks.kw 2>/tmp/errors &
watcher=$!
sleep 3
grep processes /proc/stat
/fork_storm "$1" "$2" 250 /tmp/log
grep processes /proc/stat
sleep 2
kill -TERM $watcher
wait $watcher
echo "status $?"
awk '{ n += $2 } END { print "missed", n + 0 }' /tmp/errors
grep -v 'ticks\? missed' /tmp/errors
echo "== log"
cat /tmp/log
echo "== events"
cat /tmp/events
echo "== end"
