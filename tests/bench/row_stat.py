"""Row proc-stat: 1,000 readings of the system's counters, /proc/stat read and kwalk's fields of the same."""

import re

import live
import programs
from figures import Figure, Target

ROUNDS, PASSES = 20, 50
QUICK_ROUNDS, QUICK_PASSES = 2, 5
TICK = 10_000_000
TIMES = "user,nice,system,idle,iowait,irq,softirq,steal,guest,guest_nice"
COUNTS = "ctxt,processes,intr,softirqs"
QUERIES = f"system/{TIMES},{COUNTS},procs_running,procs_blocked,btime+cpus/cpu,{TIMES}+irqs/irq,count+softirqs/softirq,count"


def numbers(rows):
    """Turn the lines of /proc/stat into {first word: numbers}."""
    lines = [live.plain(cell).split() for cell in rows[0]]
    return {line[0]: [int(word) for word in line[1:] if re.fullmatch(r"\d+", word)] for line in lines}


def check(results):
    """See that each counter lies between what /proc/stat said before and after."""
    before, after = numbers(results["before"].rows), numbers(results["after"].rows)
    for label in ("mapped", "pread"):
        if results[label].why:
            continue
        cells = results[label].rows[0]
        values = dict(zip(f"{TIMES},{COUNTS}".split(","), map(int, cells)))
        for at, name in enumerate(TIMES.split(",")):
            limits = before["cpu"][at], after["cpu"][at]
            inside(label, name, values[name] // TICK, limits, 2)
        for name in COUNTS.split(","):
            key = "softirq" if name == "softirqs" else name
            inside(label, name, values[name], (before[key][0], after[key][0]), 0)


def inside(label, name, value, limits, slack):
    if not limits[0] - slack <= value <= limits[1] + slack:
        raise programs.BenchError(f"results differ: {label}: {name} is {value}, /proc/stat had {limits}")


def run(bench, row):
    rounds, passes = (QUICK_ROUNDS, QUICK_PASSES) if bench.quick else (ROUNDS, PASSES)
    ways = ["before:0:procfs-system-stat", f"mapped:{passes}:kwalk-mapped:{QUERIES}",
            f"pread:{passes}:kwalk-pread:{QUERIES}", "after:0:procfs-system-stat", f"file:{passes}:procfs-system-stat"]
    results = live.measure(bench, procs=0, first=[rounds], ways=ways)
    check(results)

    def figure(label, name, peer=None, limit=None):
        target = Target("ratio", ">=", limit) if limit and not bench.quick else None
        return Figure(row, name, "us", [ns / 1000 for _, ns in results[label].passes], peer, target,
                      results[label].remark())

    mapped = figure("mapped", "kwalk, mapped")
    pread = figure("pread", "kwalk, pread", mapped)
    return [mapped, pread, figure("file", "/proc/stat", mapped, 20), figure("file", "/proc/stat beside pread", pread)]
