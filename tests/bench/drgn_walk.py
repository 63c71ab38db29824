"""Peer: drgn's for_each_task reading pid and comm. Run by the Python that Debian's python3-drgn is for.

    drgn_walk.py CORE VMLINUX

Prints "LEADERS SUM" for comparing (its walk meets every thread, kwalk's only processes), then answers each line
"drgn PASSES" with "drgn TASKS SUM NS...", the nanoseconds of each pass.
"""

import sys
import time

import drgn
from drgn.helpers.linux.pid import for_each_task


def letter(comm):
    return comm[0] if comm else 0


def one_pass(program):
    tasks = values = 0
    for task in for_each_task(program):
        tasks += 1
        values += task.pid.value_() + letter(task.comm.string_())
    return tasks, values


def leaders(program):
    found = [task for task in for_each_task(program) if task.pid == task.tgid]
    return len(found), sum(task.pid.value_() + letter(task.comm.string_()) for task in found)


def main():
    program = drgn.Program()
    program.set_core_dump(sys.argv[1])
    program.load_debug_info([sys.argv[2]])
    print(*leaders(program), flush=True)
    for line in sys.stdin:
        passes = []
        for _ in range(int(line.split()[1])):
            start = time.perf_counter_ns()
            tasks, values = one_pass(program)
            passes.append(time.perf_counter_ns() - start)
        print("drgn", tasks, values, *passes, flush=True)


if __name__ == "__main__":
    main()
