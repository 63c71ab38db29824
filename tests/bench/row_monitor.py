"""Row monitor: what part of a core a monitor takes that looks at 10,000 processes once a second, with all fields.

Live in a guest, whose code QEMU translates: times many times those of a real machine, for all alike. The share of a
kwalk that looks at a frozen guest's RAM on this machine itself is a figure of its own.
"""

import live
import row_all
from figures import Figure, Target

SECONDS, QUICK_SECONDS = 20, 2
PROGRAMS = {"atop": ("/usr/bin/atop", "atop 1"), "top": ("/usr/bin/top", "top -b -d 1")}


def run(bench, row):
    columns, _ = row_all.covered(bench)
    names = ",".join(columns)
    procs = 0 if bench.quick else row_all.PROCS
    seconds = QUICK_SECONDS if bench.quick else SECONDS
    ways = [f"mapped:1:kwalk-mapped:{names}", f"pread:1:kwalk-pread:{names}"]
    ways += [f"{label}:1:run:{command}" for label, (_, command) in PROGRAMS.items()]
    results = live.measure(bench, procs=procs, first=["share", seconds], ways=ways,
                           files=[(path, path) for path, _ in PROGRAMS.values()])
    native = live.measure_here(bench, ["share", seconds],
                               [f"frozen:1:kwalk-file:{bench.guest(procs) / 'ram'}:{names}"])
    results["frozen"] = native["frozen"]

    def figure(label, name, peer=None, limit=None):
        target = Target("value", "<=", limit) if limit and not bench.quick else None
        shares = [ns / 1e7 for ns in results[label].shares]
        return Figure(row, name, "% of a core", shares, peer, target, results[label].why)

    atop = figure("atop", "atop 1")
    mapped = figure("mapped", "kwalk, mapped", atop, 1)
    mapped.note = mapped.note or f"{len(columns)} fields; a guest under QEMU's translator"
    frozen = figure("frozen", "kwalk, frozen RAM, on this machine itself")
    frozen.note = frozen.note or "what remains without QEMU's translator"
    return [mapped, figure("pread", "kwalk, pread", atop, 5), frozen, atop, figure("top", "top -b -d 1", atop)]
