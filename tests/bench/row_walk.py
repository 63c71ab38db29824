"""Rows walk-N: pid and comm of every process of a frozen guest, pass after pass, once everything is set up."""

import contextlib
from pathlib import Path

import programs
from figures import Figure, Target

HERE = Path(__file__).resolve().parent
PYTHON = "/usr/bin/python3"  # the one that Debian's python3-drgn is for
PASSES, ROUNDS = 1000, 20
QUICK_PASSES, QUICK_ROUNDS = 100, 4
DRGN_PASSES = 5  # one takes as long as thousands of kwalk's


def take(answer, samples):
    """Keep the nanoseconds per task of an answer's passes; return its (tasks, sum)."""
    tasks = int(answer[1])
    samples += [int(ns) / tasks for ns in answer[3:]]
    return tasks, int(answer[2])


def agree(first, second, who):
    if first != second:
        raise programs.BenchError(f"results differ: (tasks, sum) is {first} by kwalk, {second} by {who}")


def start_drgn(guest, vmlinux, stack):
    """Start drgn on the dump of the same memory; return it and its (processes, sum)."""
    command = [PYTHON, str(HERE / "drgn_walk.py"), str(guest / "elf-virt.core"), str(vmlinux)]
    peer = stack.enter_context(programs.server(command))
    return peer, tuple(map(int, peer.read()))


def run(bench, row, procs, has_targets=True):
    guest = bench.guest(procs)
    vmlinux, obstacle = bench.debug_symbols()
    passes, rounds = (QUICK_PASSES, QUICK_ROUNDS) if bench.quick else (PASSES, ROUNDS)
    hand = Figure(row, "hand", "ns/task")
    kwalk = Figure(row, "kwalk", "ns/task", peer=hand)
    drgn = Figure(row, "drgn", "ns/task", peer=kwalk, note=obstacle)
    if has_targets:
        kwalk.target, drgn.target = Target("ratio", "<=", 1.3), Target("ratio", ">=", 150)

    with contextlib.ExitStack() as stack:
        walker = stack.enter_context(programs.server([str(bench.program("bench_walk")), str(guest / "ram")]))
        peer, leaders = start_drgn(guest, vmlinux, stack) if vmlinux else (None, None)
        for turn in range(rounds):
            by_hand = take(walker.ask("hand", passes // rounds), hand.samples)
            found = take(walker.ask("kwalk", passes // rounds), kwalk.samples)
            agree(found, by_hand, "hand")
            if peer and turn % (rounds // DRGN_PASSES) == 0:
                threads, _ = take(peer.ask("drgn", 1), drgn.samples)
        if peer:
            agree(found, leaders, "drgn")
            drgn.note = f"its for_each_task gives every thread, {threads} of them; compared per task"
    kwalk.note = (f"{found[0]} processes; {len(kwalk.samples)} passes took {milliseconds(kwalk, found)} ms,"
                  f" by hand {milliseconds(hand, found)} ms")
    return [kwalk, hand, drgn]


def milliseconds(figure, found):
    """Give the time of all passes together."""
    return f"{sum(figure.samples) * found[0] / 1e6:.0f}"
