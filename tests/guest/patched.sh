#!/bin/busybox sh
# Runs inside a guest whose kernel lets /proc/kcore be mapped, as root. Prints ok and not ok lines; what it prints between
# the lines "=== NAME" and "=== end" is for patched.test to look into.

say() { echo "$1 $2"; }

/live.sh mapped

echo "=== segments"
/kcore_map segments
echo "=== end"
strace -f -o /tmp/trace -e trace=openat,pread64,preadv,preadv2,read,mmap,capset /kwalk ps -o pid,comm >/tmp/out 2>/tmp/errors
[ $? -eq 0 ] && [ "$(wc -l </tmp/out)" -gt 100 ] && say ok runs-under-strace || { say "not ok" runs-under-strace; cat /tmp/errors; }
echo "=== trace"
cat /tmp/trace
echo "=== end"

# A page of a process: the mapping refuses it, and kwalk reads it with pread instead, or says why it has no value.
/kcore_map user-page >/tmp/page &
holder=$!
while [ ! -s /tmp/page ] && kill -0 $holder 2>/dev/null; do sleep 0.1; done
read -r address want </tmp/page
/kwalk print "(unsigned long)$address" >/tmp/out 2>&1
grep -q "$want" /tmp/out && say ok falls-back-to-pread || { say "not ok" falls-back-to-pread; cat /tmp/out /tmp/page; }
kill $holder

# Monitors at work, while memory goes offline and comes back below them.
for i in 1 2 3 4 5 6 7 8; do /kwalk ps -o pid,comm,rss >/dev/null 2>>/tmp/errors || echo "exit status $?" >>/tmp/errors; done &
monitor=$!
/kcore_map
wait $monitor
[ ! -s /tmp/errors ] && say ok monitors-meanwhile || { say "not ok" monitors-meanwhile; cat /tmp/errors; }

# Nothing of all this may worry the kernel. It says by itself that poisoned memory was poisoned.
sleep 2
dmesg | grep -E 'WARNING|BUG|Oops|Call Trace|Bad page|blocked for more|soft lockup' >/tmp/out
[ ! -s /tmp/out ] && say ok no-kernel-warning || { say "not ok" no-kernel-warning; dmesg | tail -n 100; }
