"""Peer: the process list by drgn, as a script for its command line: drgn -q -c CORE -s VMLINUX drgn_list.py."""

from drgn.helpers.linux.pid import for_each_task

for task in for_each_task(prog):  # noqa: F821 - drgn's command line defines prog
    print(task.pid.value_(), task.comm.string_().decode(errors="replace"))
