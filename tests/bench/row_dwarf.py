"""Row dwarf: the whole process of a `kwalk ps` that takes its types from the DWARF of the kernel's vmlinux, beside drgn, which
always does."""

import shutil
from pathlib import Path

import guests
import programs
import row_startup
from figures import Figure, Target
from row_dump import forget, peak_mib

HERE = Path(__file__).resolve().parent
RUNS, DRGN_RUNS = 10, 3
LIMIT_MS, LIMIT_MIB = 1500, 500


def check_rows(kwalk, ram, vmlinux):
    """See that the rows are those that BTF leads to; return how many."""
    rows = [programs.output_of([kwalk, "-t", ram, "--types", types, "ps"]) for types in ("btf", vmlinux)]
    if rows[0] != rows[1]:
        raise programs.BenchError("kwalk ps prints other rows with DWARF than with BTF")
    return len(rows[0].splitlines()) - 1


def run(bench, row):
    vmlinux, obstacle = bench.debug_symbols()
    if vmlinux is None:
        return [Figure(row, "kwalk", "ms", note=obstacle)]
    guest = bench.guest(0)
    kwalk, ram = str(bench.program("kwalk")), str(guest / "ram")
    count = check_rows(kwalk, ram, str(vmlinux))
    command = [kwalk, "-t", ram, "--types", str(vmlinux), "ps"]
    warm = Figure(row, "kwalk", "ms", target=Target("value", "<=", LIMIT_MS),
                  note=f"{count} processes; vmlinux of {vmlinux.stat().st_size >> 20} MiB")
    cpu = Figure(row, "kwalk, CPU time", "ms")
    cold = Figure(row, "kwalk, cold", "ms", target=Target("value", "<=", LIMIT_MS),
                  note="vmlinux is not in the page cache")
    for _ in range(RUNS):
        forget(vmlinux)
        cold.samples.append(programs.timed(command)[0])
        wall, busy = programs.timed(command)
        warm.samples.append(wall)
        cpu.samples.append(busy)
    memory = Figure(row, "kwalk, memory", "MiB", [peak_mib(command)], target=Target("value", "<=", LIMIT_MIB),
                    note="resident at most")
    drgn = Figure(row, "drgn", "ms", peer=warm, target=Target("ratio", ">=", 1))
    if shutil.which("drgn"):
        row_startup.time_lister(drgn, ["/usr/bin/drgn", "-q", "-c", str(guest / "elf-virt.core"), "-s", str(vmlinux),
                                       str(HERE / "drgn_list.py")],
                                guests.lasting(guests.true_parents(guest)), DRGN_RUNS, str(guest))
    else:
        drgn.note = "drgn is not installed"
    return [warm, cpu, cold, memory, drgn]
