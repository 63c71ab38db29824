#!/bin/busybox sh
# Runs inside a guest, as root: finds kernel objects with kwalk for module_check to look at.

mount -t securityfs none /sys/kernel/security 2>/dev/null

# A sleeper's parent is a shell that waits: the address of its task_struct, and of the sleeper's topmost page table.
(/bin/sleep 1000; true) &
/bin/sleep 0.5
set -- $(/kwalk ps -C sleep --format tsv --no-headers -o task.parent,task.mm.pgd)
exec /module_check /kwalk.ko "$1" "$2"
