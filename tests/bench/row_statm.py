"""Row nproc: the seven fields of /proc/PID/statm of 1,000 processes, as nproc's author measured them."""

import live
import programs
from figures import Figure, Target

PROCS = 1000
ROUNDS, PASSES = 20, 50  # a thousand passes
QUICK_ROUNDS, QUICK_PASSES = 2, 5
COLUMNS = "vsz,rss,rss_file,rss_shmem,text,data,stack"
PAGE = 4096


def as_statm(cells):
    """Turn kwalk's values into statm's: size resident shared text lib data dt, in pages; a kernel thread's are 0."""
    size, rss, file, shmem, text, data, stack = (0 if cell == "-" else int(cell) // PAGE for cell in cells)
    return tuple(map(str, (size, rss, file + shmem, text, 0, data + stack, 0)))


def check(results):
    """See that all ways have the same values of all but the two that run meanwhile: init and the bench."""
    wanted = results["open"].rows
    # The bench was started last; only kernel threads, which have no memory, come after it.
    itself = max(pid for pid, cells in wanted.items() if cells[0] != "0")
    for label in ("mapped", "pread"):
        rows = results[label].rows
        for pid in set(rows) & set(wanted):
            got = as_statm(rows[pid])
            moving = pid == 1 or pid == itself
            if not moving and got != wanted[pid]:
                raise programs.BenchError(f"results differ: process {pid}: {label} {got}, /proc {wanted[pid]}")
        if rows and len(set(rows) & set(wanted)) < 50:
            raise programs.BenchError(f"{label} lists only {len(rows)} processes")


def run(bench, row):
    rounds, passes = (QUICK_ROUNDS, QUICK_PASSES) if bench.quick else (ROUNDS, PASSES)
    ways = [f"mapped:{passes}:kwalk-mapped:{COLUMNS}", f"pread:{passes}:kwalk-pread:{COLUMNS}",
            f"anew:{passes}:kwalk-mapped:anew/{COLUMNS}",
            f"open:{max(1, passes // 10)}:procfs-statm-open", f"lseek:{max(1, passes // 10)}:procfs-statm-lseek"]
    results = live.measure(bench, procs=0 if bench.quick else PROCS, first=[rounds], ways=ways)
    check(results)

    def figure(label, name, peer=None, limit=None):
        target = Target("ratio", ">=", limit) if limit and not bench.quick else None
        return Figure(row, name, "ns/process", results[label].per_row(), peer, target, results[label].remark())

    mapped = figure("mapped", "kwalk, mapped")
    anew = figure("anew", "kwalk, mapped, each row anew", mapped)
    pread = figure("pread", "kwalk, pread", mapped)
    opened = figure("open", "open, read, sscanf", mapped, 100)
    opened.note = f"{results['open'].passes[0][0]} processes in a guest"
    return [mapped, anew, pread, opened,
            figure("open", "open, read, sscanf beside pread", pread),
            figure("lseek", "lseek, read", mapped), figure("lseek", "lseek, read beside pread", pread)]
