"""Peer: drgn's for_each_task reading pid and comm. Run by the Python that Debian's python3-drgn is for.

    drgn_walk.py CORE|live VMLINUX

Prints "LEADERS SUM" for comparing (its walk meets every thread, kwalk's only processes), then answers lines: "drgn PASSES"
with "drgn TASKS SUM NS...", the nanoseconds of each pass; "list" with a line for each process, PID, PID and comm with tabs
between them, and then "end".
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
    return [(task.pid.value_(), task.comm.string_()) for task in for_each_task(program) if task.pid == task.tgid]


def escaped(comm):
    return "".join(chr(byte) if 33 <= byte < 127 and byte != 92 else f"\\x{byte:02x}" for byte in comm)


def answer(program, words):
    if words[0] == "list":
        for pid, comm in leaders(program):
            print(pid, pid, escaped(comm), sep="\t")
        print("end", flush=True)
        return
    passes = []
    for _ in range(int(words[1])):
        start = time.perf_counter_ns()
        tasks, values = one_pass(program)
        passes.append(time.perf_counter_ns() - start)
    print("drgn", tasks, values, *passes, flush=True)


def main():
    program = drgn.Program()
    if sys.argv[1] == "live":
        program.set_kernel()
    else:
        program.set_core_dump(sys.argv[1])
    program.load_debug_info([sys.argv[2]])
    found = leaders(program)
    print(len(found), sum(pid + letter(comm) for pid, comm in found), flush=True)
    for line in sys.stdin:
        answer(program, line.split())


if __name__ == "__main__":
    main()
