"""Measuring inside a guest: what bench_live says there, and whether its ways agree.

A way is LABEL:PASSES:KIND[:ARG] (see live.c). Its result is either the list of what it got and the times of its passes,
or why it has none.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

import programs
from programs import BenchError

HERE = Path(__file__).resolve().parent
BASE_MEMORY = 1024  # MiB: kernel, initramfs, zoo, and what the programs need
PROCESS_MEMORY = 0.11  # MiB: an idle process
COMM_SIZE = 15


@dataclass
class Result:
    """What one way gave."""

    why: str = ""
    note: str = ""
    rows: dict = field(default_factory=dict)  # PID: its cells
    passes: list = field(default_factory=list)  # (rows, nanoseconds) of each
    shares: list = field(default_factory=list)  # CPU time of each second, in nanoseconds

    def remark(self):
        """What a figure's note says of it."""
        return self.why or self.note

    def per_row(self, rows=None):
        """Nanoseconds of each pass for each row; rows: how many, for a way that does not count them itself."""
        return [ns / (rows or count) for count, ns in self.passes]


def parse(text):
    """Turn bench_live's output into {label: Result}."""
    results, listing = {}, None
    for line in text.splitlines():
        word, _, rest = line.partition(" ")
        if listing is not None and "\t" in line:
            pid, *cells = line.split("\t")
            listing.rows.setdefault(int(pid), tuple(cells))
        elif word in ("list", "none", "note", "time", "share"):
            label, _, rest = rest.partition(" ")
            result = results.setdefault(label, Result())
            if word == "list":
                listing = result
            elif word == "none":
                result.why = rest
            elif word == "note":
                result.note = rest
            elif word == "time":
                rows, *times = map(int, rest.split())
                result.passes += [(rows, ns) for ns in times]
            elif word == "share":
                result.shares += map(int, rest.split())
        elif word == "end":
            listing = None
    return results


def measure(bench, *, procs, first, ways, files=(), timeout=1200, memory=0):
    """Run bench_live in a guest of so many processes; first: its arguments before the ways. Return {label: Result}."""
    module, why_no_module = bench.module()
    brought = [(bench.program("bench_live"), "/bench_live"), (HERE / "live.sh", "/live.sh"), *files]
    iterator = bench.program("task_iter.bpf.o")
    if iterator.exists():
        brought.append((iterator, "/task_iter.bpf.o"))
    if module:
        brought.append((module, "/kwalk.ko"))
    size = int(BASE_MEMORY + procs * PROCESS_MEMORY) + memory
    options = [word for host, guest in brought for word in ("--file", f"{host}:{guest}")]
    text = bench.lab("exec", bench.kernel, "--no-busy", "--procs", procs, "--memory", f"{size}M", "--timeout", timeout,
                     *options, "--", "/live.sh", *first, *ways, whole=True)
    results = parse(text)
    for way in ways:
        label = way.split(":")[0]
        if label not in results:
            raise BenchError(f"{label}: bench_live said nothing of it")
        if label.startswith("mapped") and results[label].why:
            results[label].why += f" ({why_no_module or 'the module is loaded'})"
    return results


def measure_here(bench, first, ways):
    """Run bench_live on this machine. Return {label: Result}."""
    return parse(programs.output_of([str(bench.program("bench_live")), *map(str, first), *ways], timeout=1800))


def plain(cell):
    r"""Undo the escapes (\xHH) of a cell."""
    return re.sub(r"\\x(..)", lambda found: chr(int(found[1], 16)), cell)


def names(result, shown=False):
    """Return {PID: comm} of a result that lists both: cut as the kernel's comm is; shown: as ps prints what is odd.

    Without workers of the kernel, which come and go, and have names in /proc that say what they do at the moment.
    """
    found = {pid: plain(cells[1])[:COMM_SIZE] for pid, cells in result.rows.items()}
    if shown:
        found = {pid: re.sub(r"[^ -~]|[?.]", "?", comm) for pid, comm in found.items()}
    return {pid: comm for pid, comm in found.items() if not comm.startswith("kworker")}


def check_names(results, reference, own):
    """See that every way lists what `reference` does; own: {label: comm of the program that lists itself}."""
    for label, result in results.items():
        if result.why or label == reference or not result.rows:
            continue
        shown = label in own
        want, got = names(results[reference], shown), names(result, shown)
        got = {pid: comm for pid, comm in got.items() if pid in want or comm != own.get(label)}
        if want != got:
            odd = sorted(set(want.items()) ^ set(got.items()))
            raise BenchError(f"results differ: {label} and {reference} disagree on {odd[:10]}")
        if len(want) < 50:
            raise BenchError(f"{label} lists only {len(want)} processes")
