"""Rows walk-N: pid and comm of every process of a frozen guest, pass after pass, once everything is set up."""

import contextlib
from pathlib import Path

import programs
from figures import Figure, Target

HERE = Path(__file__).resolve().parent
PYTHON = "/usr/bin/python3"  # the one that Debian's python3-drgn is for
PASSES, ROUNDS = 1000, 20
QUICK_PASSES, QUICK_ROUNDS = 100, 4
LANGUAGE_LIMIT = 1.5  # of a query's ratio to the loop by hand
DRGN_PASSES = 5  # one takes as long as thousands of kwalk's


def take(answer, samples):
    """Keep the nanoseconds per task of an answer's passes; return its (tasks, sum)."""
    tasks = int(answer[1])
    samples += [int(ns) / tasks for ns in answer[3:]]
    return tasks, int(answer[2])


def agree(first, second, who):
    if first != second:
        raise programs.BenchError(f"results differ: (tasks, sum) is {first} by kwalk, {second} by {who}")


class Walker:
    """bench_walk on a frozen guest, asked again and again."""

    def __init__(self, bench, row, procs, stack, label=""):
        self.guest = bench.guest(procs)
        self.server = stack.enter_context(
            programs.server([str(bench.program("bench_walk")), str(self.guest / "ram")]))
        self.hand = Figure(row, f"hand{label}", "ns/task")
        self.kwalk = Figure(row, f"kwalk{label}", "ns/task", peer=self.hand)
        self.text = Figure(row, f"kwalk, query language{label}", "ns/task", peer=self.hand)
        self.found = None

    def walk(self, passes):
        by_hand = take(self.server.ask("hand", passes), self.hand.samples)
        self.found = take(self.server.ask("kwalk", passes), self.kwalk.samples)
        agree(self.found, by_hand, "hand")
        agree(self.found, take(self.server.ask("text", passes), self.text.samples), "the query language")

    def note(self):
        times = [sum(figure.samples) * self.found[0] / 1e6 for figure in (self.kwalk, self.hand)]
        return (f"{self.found[0]} processes; {len(self.kwalk.samples)} passes took {times[0]:.0f} ms,"
                f" by hand {times[1]:.0f} ms")


class Drgn:
    """drgn on the dump of the same memory, where there is one, and the kernel's debug symbols."""

    def __init__(self, bench, row, walker, stack):
        self.figure = Figure(row, "drgn", "ns/task", peer=walker.kwalk)
        self.threads = self.leaders = self.server = None
        core = walker.guest / "elf-virt.core"
        if not core.exists():
            self.figure.note = "it can't read bare RAM, and so large a guest is not dumped"
            return
        vmlinux, self.figure.note = bench.debug_symbols()
        if vmlinux is None:
            return
        command = [PYTHON, str(HERE / "drgn_walk.py"), str(core), str(vmlinux)]
        self.server = stack.enter_context(programs.server(command))
        self.leaders = tuple(map(int, self.server.read()))

    def walk(self):
        if self.server:
            self.threads, _ = take(self.server.ask("drgn", 1), self.figure.samples)

    def check(self, found):
        if self.server:
            agree(found, self.leaders, "drgn")
            self.figure.note = f"its for_each_task gives every thread, {self.threads} of them; compared per task"


def run(bench, row, procs, limit=1.3, passes=PASSES, rounds=ROUNDS, beside=None):
    """limit: of kwalk's ratio to the loop by hand; beside: (processes of a smaller guest, limit of the ratio to it)."""
    if bench.quick:
        passes, rounds = QUICK_PASSES, QUICK_ROUNDS
    with contextlib.ExitStack() as stack:
        walker = Walker(bench, row, procs, stack)
        drgn = Drgn(bench, row, walker, stack)
        small = Walker(bench, row, beside[0], stack, f" at {beside[0]} processes") if beside else None
        for turn in range(rounds):
            walker.walk(passes // rounds)
            if small:
                small.walk(passes // rounds)
            if turn % max(1, rounds // DRGN_PASSES) == 0:
                drgn.walk()
        drgn.check(walker.found)
    walker.kwalk.note = walker.note()
    if limit:
        walker.text.target = Target("ratio", "<=", LANGUAGE_LIMIT)
        walker.kwalk.target, drgn.figure.target = Target("ratio", "<=", limit), Target("ratio", ">=", 150)
    return [walker.kwalk, walker.text, walker.hand, drgn.figure, *beside_smaller(row, walker, small, beside)]


def beside_smaller(row, walker, small, beside):
    """The figures that show what a task costs more where there are many."""
    if not small:
        return []
    larger = Figure(row, f"kwalk, beside {beside[0]} processes", "ns/task", walker.kwalk.samples, small.kwalk,
                    Target("ratio", "<=", beside[1]))
    return [larger, small.kwalk, small.hand]
