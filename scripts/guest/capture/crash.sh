#!/bin/busybox sh
# Runs in a guest, as root: loads the capture kernel, runs a program, and crashes.
#   $1  folders with libraries that kexec needs    $2  more options for it    $3  the program
die() { echo "lab: $1" >&2; exit 1; }

[ "$(cat /sys/kernel/kexec_crash_size)" -gt 0 ] || die "no memory was set aside for a capture kernel"
# shellcheck disable=SC2086 # options are words
LD_LIBRARY_PATH=$1 /lab/kexec -p $2 --initrd=/lab/capture /lab/vmlinuz \
	--append="console=ttyS0 loglevel=5 panic=-1 nr_cpus=1 reset_devices" || die "kexec did not load the capture kernel"
"$3" || die "$3 ended with $?"
# What was written is passed on by PID 1, which is about to end.
sleep 0.5
echo c >/proc/sysrq-trigger
