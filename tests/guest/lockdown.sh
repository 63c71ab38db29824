#!/bin/busybox sh
# Runs inside a guest, as root: locks its kernel down and sees what kwalk says. A guest of its own, since the lab's
# way to report an exit status needs what lockdown forbids.

mount -t securityfs none /sys/kernel/security 2>/dev/null
if echo confidentiality >/sys/kernel/security/lockdown; then
	/kwalk ps >/tmp/out 2>&1
	[ $? -eq 3 ] && grep -q 'locked down' /tmp/out && echo "ok live-lockdown" || { echo "not ok live-lockdown"; cat /tmp/out; }
else
	echo "not ok live-lockdown: it can't be switched on"
fi
