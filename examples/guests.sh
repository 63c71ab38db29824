#!/bin/sh
# guests.sh: the three busiest processes of every QEMU guest on this host, without an agent in any of them.
#
# A guest can be read when its RAM is shared (memory-backend-memfd or memory-backend-file with share=on); of the others
# kwalk says why it can't. Run it as root, or as the user that runs QEMU. The guest is not stopped.
set -eu

for file in /proc/[0-9]*/comm; do
    name=$(cat "$file" 2>/dev/null) || continue
    case $name in
    qemu-system-* | qemu-kvm | kvm) ;;
    *) continue ;;
    esac
    pid=${file#/proc/}
    pid=${pid%/comm}
    echo "== $name, process $pid"
    "${KWALK:-kwalk}" -t "qemu:$pid" ps --top 3 2>&1 || true
done
