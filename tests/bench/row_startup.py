"""Rows startup-N: the whole process of a cold `kwalk ps`, from exec to exit, beside others that print the same list."""

import re
import shutil
import tempfile
import time
from pathlib import Path

import guests
import programs
from figures import Figure, Target

HERE = Path(__file__).resolve().parent
RUNS, QUICK_RUNS = 20, 5
WARM_UP = 2
LISTER_RUNS = 3
CRASH_COMMANDS = "ps\nquit\n"


def listed_pids(text):
    return {int(found) for found in re.findall(r"(?m)^[ >]*(\d+)\b", text)}


def check_kwalk(bench, ram, wanted):
    """See that kwalk lists what the guest itself did; return how many processes it lists."""
    text = programs.output_of([str(bench.program("kwalk")), "-t", ram, "ps", "-o", "pid,ppid", "--no-headers"])
    parents = {int(pid): int(parent) for pid, parent in map(str.split, text.splitlines())}
    got = guests.lasting(parents)
    if got != wanted:
        raise programs.BenchError(f"kwalk ps lists other processes than the guest's /proc: {sorted(got ^ wanted)}")
    return len(parents)


def measure(bench, row, guest, procs, limit, ps_target):
    wanted = guests.lasting(guests.true_parents(guest))
    ram = str(guest / "ram")
    count = check_kwalk(bench, ram, wanted)
    kwalk = [str(bench.program("kwalk")), "-t", ram, "ps"]
    figures = {
        "kwalk": (kwalk, Figure(row, "kwalk", "ms", target=Target("value", "<=", limit))),
        "short": ([*kwalk, "-o", "pid,comm"], Figure(row, "kwalk -o pid,comm", "ms")),
        "ps": (["ps", "-eo", "pid,comm"], Figure(row, "ps -eo pid,comm", "ms")),
    }
    cpu = Figure(row, "kwalk, CPU time", "ms", note="user and system; a busy machine stretches the time, but hardly this")
    with programs.real_processes(bench, count):
        for turn in range(-WARM_UP, QUICK_RUNS if bench.quick else RUNS):
            for name, (command, figure) in figures.items():
                wall, busy = programs.timed(command)
                if turn >= 0:
                    figure.samples.append(wall)
                    if name == "kwalk":
                        cpu.samples.append(busy)
    first, short, ps = (figure for _, figure in figures.values())
    first.note = f"{count} processes"
    ps.peer, ps.target = first, ps_target
    ps.note = f"at least {count} processes of this machine"
    return [first, cpu, short, ps], wanted


def time_lister(figure, command, wanted, runs, folder):
    """Time a program that prints the list; where it does not print all of it, say so and give no figure."""
    for _ in range(runs):
        start = time.perf_counter()
        got = listed_pids(programs.output_of(command, cwd=folder, may_fail=True))
        figure.samples.append((time.perf_counter() - start) * 1000)
        if not wanted <= got:
            figure.note = (f"lists {len(got & wanted)} of the {len(wanted)} processes that last"
                           f" (in {figure.samples[-1]:.0f} ms): no figure")
            figure.samples.clear()
            return


def measure_listers(bench, row, guest, wanted, kwalk):
    """drgn and crash, which need the kernel's debug symbols, print the list from the dump of the same memory."""
    figures = [Figure(row, name, "ms", peer=kwalk) for name in ("drgn", "crash")]
    vmlinux, obstacle = bench.debug_symbols()
    if vmlinux is None:
        for figure in figures:
            figure.note = obstacle
        return figures
    core = str(guest / "elf-virt.core")
    with tempfile.TemporaryDirectory() as folder:
        commands = Path(folder) / "commands"
        commands.write_text(CRASH_COMMANDS)
        for figure, command, runs in zip(figures, (
                ["/usr/bin/drgn", "-q", "-c", core, "-s", str(vmlinux), str(HERE / "drgn_list.py")],
                ["/usr/bin/crash", "-s", "-i", str(commands), str(vmlinux), core]), (LISTER_RUNS, 1)):
            if shutil.which(command[0]):
                time_lister(figure, command, wanted, runs, folder)
            else:
                figure.note = f"{command[0]} is not installed"
    return figures


def run(bench, row, procs, limit, ps_target=None, listers=False):
    guest = bench.guest(procs)
    figures, wanted = measure(bench, row, guest, procs, limit, ps_target)
    if listers:
        figures += measure_listers(bench, row, guest, wanted, figures[0])
    return figures
