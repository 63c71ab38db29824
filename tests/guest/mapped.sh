#!/bin/busybox sh
# Runs inside a guest, as root: kwalk on the kernel that it runs on itself, through the kernel module. Prints ok and not ok lines;
# what it prints between the lines "=== NAME" and "=== end" is for mapped.test to look into.

say() { echo "$1 live-$2"; }

busybox insmod /kwalk.ko || { say "not ok" insmod; dmesg | tail -n 5; exit 1; }
/live.sh device

echo "=== segments"
/kcore_map segments
echo "=== end"
strace -f -o /tmp/trace -e trace=openat,pread64,preadv,preadv2,read,mmap,capset /kwalk ps -o pid,comm >/tmp/out 2>/tmp/errors
[ $? -eq 0 ] && [ "$(wc -l </tmp/out)" -gt 100 ] && say ok runs-under-strace || { say "not ok" runs-under-strace; cat /tmp/errors; }
echo "=== trace"
cat /tmp/trace
echo "=== end"

# A page of a process: the module refuses it, and kwalk reads it with pread instead.
/kcore_map user-page >/tmp/page &
holder=$!
while [ ! -s /tmp/page ] && kill -0 $holder 2>/dev/null; do sleep 0.1; done
read -r address want </tmp/page
/kwalk print "(unsigned long)$address" >/tmp/out 2>&1
grep -q "$want" /tmp/out && say ok falls-back-to-pread || { say "not ok" falls-back-to-pread; cat /tmp/out /tmp/page; }
kill $holder

/kwalk --no-mmap ps -o pid,comm -p 1,2 >/tmp/out 2>/tmp/errors
/kwalk ps -o pid,comm -p 1,2 >/tmp/mapped 2>>/tmp/errors
cmp /tmp/out /tmp/mapped && [ ! -s /tmp/errors ] && say ok same-as-no-mmap || { say "not ok" same-as-no-mmap; cat /tmp/errors; }

# Who is not root is not helped by the module.
busybox su -s /bin/sh nobody -c "cat /dev/kwalk" >/tmp/out 2>&1 && { say "not ok" device-is-for-root; } || say ok device-is-for-root

# Gone again: the next kwalk reads with pread, and says why.
busybox rmmod kwalk && /kwalk ps -o pid,comm >/tmp/out 2>/tmp/errors && [ ! -s /tmp/errors ] &&
	/kwalk info | grep -q 'module.*/dev/kwalk: not there' && say ok without-it-again || { say "not ok" without-it-again; cat /tmp/errors; }

dmesg | grep -E 'WARNING|BUG|Oops|Call Trace|Bad page|blocked for more|soft lockup' >/tmp/out
[ ! -s /tmp/out ] && say ok no-kernel-warning || { say "not ok" no-kernel-warning; dmesg | tail -n 100; }
