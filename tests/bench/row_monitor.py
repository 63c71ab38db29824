"""Row monitor: what part of a core a monitor takes that looks at 10,000 processes once a second, with all fields.

Live in a guest, whose code QEMU translates: times many times those of a real machine, for all alike, so that a look takes
longer than a second. They look every ten seconds there, and what they then use is given as if it were each second: above
100 % they could not do it. The share of a kwalk that looks at a frozen guest's RAM on this machine itself is a figure of
its own.
"""

import live
import row_all
from figures import Figure, Target

SAMPLES, QUICK_SAMPLES = 6, 2
SECONDS, QUICK_SECONDS = 10, 2
TERMINAL = "/lib/terminfo/d/dumb"
PROGRAMS = {"atop": ("/usr/bin/atop", "atop {}"), "top": ("/usr/bin/top", "env TERM=dumb top -b -d {}")}


def run(bench, row):
    columns, _ = row_all.covered(bench)
    names = ",".join(columns)
    procs = 0 if bench.quick else row_all.PROCS
    samples, seconds = (QUICK_SAMPLES, QUICK_SECONDS) if bench.quick else (SAMPLES, SECONDS)
    ways = [f"mapped:1:kwalk-mapped:{names}", f"pread:1:kwalk-pread:{names}"]
    ways += [f"{label}:1:run:{command.format(seconds)}" for label, (_, command) in PROGRAMS.items()]
    results = live.measure(bench, procs=procs, first=["share", samples, seconds], ways=ways,
                           files=[(path, path) for path in (TERMINAL, *(path for path, _ in PROGRAMS.values()))])
    native = live.measure_here(bench, ["share", samples, 1],
                               [f"frozen:1:kwalk-file:{bench.guest(procs) / 'ram'}:{names}"])
    results["frozen"] = native["frozen"]

    def figure(label, name, peer=None, limit=None):
        target = Target("value", "<=", limit) if limit and not bench.quick else None
        shares = [ns / 1e7 for ns in results[label].shares]
        return Figure(row, name, "% of a core", shares, peer, target, results[label].why)

    atop = figure("atop", "atop")
    mapped = figure("mapped", "kwalk, mapped", atop, 1)
    mapped.note = mapped.note or f"{len(columns)} fields; a guest under QEMU's translator"
    frozen = figure("frozen", "kwalk, frozen RAM, on this machine itself")
    frozen.note = frozen.note or "what remains without QEMU's translator"
    return [mapped, figure("pread", "kwalk, pread", atop, 5), frozen, atop, figure("top", "top -b", atop)]
