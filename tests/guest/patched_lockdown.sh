#!/bin/busybox sh
# Runs inside a guest whose kernel lets /proc/kcore be mapped: locks it down after the file was opened, and before.

mount -t securityfs none /sys/kernel/security 2>/dev/null
/kcore_map lockdown
/kwalk ps >/tmp/out 2>&1
[ $? -eq 3 ] && grep -q 'locked down' /tmp/out && echo "ok lockdown" || { echo "not ok lockdown"; cat /tmp/out; }
