"""Row live: pid and comm of every process of a guest, read from within it, by all ways that there are.

QEMU translates the guest's code, so its times are many times those of a real machine; the ratios are the point. The first
passes of a turn also pay for finding again, in QEMU's tables, what the ways before have driven out of them: a thousand passes
of kwalk, mapped, and as much time for the others as for those.
"""

import tempfile
from pathlib import Path

import live
import peers
from figures import Figure, Target

PROCS = 3700
ROUNDS, QUICK_ROUNDS = 7, 2
COLUMNS = "pid,comm"
OWN = {"ps": "ps"}  # lists itself


def run(bench, row):
    with tempfile.TemporaryDirectory() as folder:
        drgn = peers.drgn_for_guest(bench, Path(folder))
        mapped, pread, iterator = (20, 5, 5) if bench.quick else (143, 20, 40)
        ways = [f"mapped:{mapped}:kwalk-mapped:{COLUMNS}", f"pread:{pread}:kwalk-pread:{COLUMNS}", "procfs:1:procfs-stat",
                f"iterator:{iterator}:iter-comm:/task_iter.bpf.o", "ps:1:run:ps -eo pid,comm"]
        if drgn.command:
            ways.append(f"drgn:1:server:{drgn.command}")
        results = live.measure(bench, procs=0 if bench.quick else PROCS, ways=ways, memory=drgn.memory,
                               first=[QUICK_ROUNDS if bench.quick else ROUNDS],
                               files=[("/usr/bin/ps", "/usr/bin/ps"), *drgn.files])
    results.setdefault("drgn", live.Result(why=drgn.why))
    live.check_names(results, "procfs", OWN)
    return figures_of(row, results, has_targets=not bench.quick)


def figures_of(row, results, has_targets):
    count = results["procfs"].passes[0][0]

    def figure(label, name, peer=None, target=None):
        result = results[label]
        rows = count if label == "ps" else None
        return Figure(row, name, "ns/process", result.per_row(rows), peer=peer, target=target if has_targets else None,
                      note=result.remark())

    mapped = figure("mapped", "kwalk, mapped")
    pread = figure("pread", "kwalk, pread", mapped)
    procfs = figure("procfs", "/proc/PID/stat", mapped, Target("ratio", ">=", 200))
    procfs.note = f"{count} processes in a guest; QEMU translates its code: look at the ratios"
    return [
        mapped, pread, procfs,
        figure("procfs", "/proc/PID/stat beside pread", pread, Target("ratio", ">=", 30)),
        figure("iterator", "BPF iterator", mapped, Target("ratio", ">=", 10)),
        figure("iterator", "BPF iterator beside pread", pread, Target("ratio", ">=", 1)),
        figure("ps", "ps -eo pid,comm", pread), figure("drgn", "drgn", pread),
    ]
