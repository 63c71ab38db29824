"""scripts/bench, after it has set up the machine and built kwalk: runs rows and prints their figures.

A row is a name and a function that is given the Bench and the row's name and returns a list of Figure.
"""

import argparse
import functools
import json
import os
import platform
import re
import signal
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True

import figures  # noqa: E402
import readme  # noqa: E402
import row_all  # noqa: E402
import row_dump  # noqa: E402
import row_dwarf  # noqa: E402
import row_live  # noqa: E402
import row_memory  # noqa: E402
import row_monitor  # noqa: E402
import row_startup  # noqa: E402
import row_stat  # noqa: E402
import row_statm  # noqa: E402
import row_walk  # noqa: E402
from programs import BenchError  # noqa: E402

TOP = Path(__file__).resolve().parents[2]
KERNEL = "6.1"
KEPT = "bench.json"  # in the build folder
TEN_TIMES = figures.Target("ratio", ">=", 10)

ROWS = {
    "walk-3700": functools.partial(row_walk.run, procs=3700),
    "walk-10000": functools.partial(row_walk.run, procs=10000),
    "walk-100000": functools.partial(row_walk.run, procs=100000, limit=1, passes=200, beside=(1000, 2.5)),
    "startup-200": functools.partial(row_startup.run, procs=0, limit=25, listers=True),
    "startup-10000": functools.partial(row_startup.run, procs=10000, limit=60, ps_target=TEN_TIMES),
    "memory": functools.partial(row_memory.run, procs=10000),
    "dump": functools.partial(row_dump.run, procs=3700),
    "dwarf": row_dwarf.run,
    "live": row_live.run,
    "proc-all": row_all.run,
    "proc-all-frozen": row_all.run_frozen,
    "nproc": row_statm.run,
    "proc-stat": row_stat.run,
    "monitor": row_monitor.run,
    "walk-200": functools.partial(row_walk.run, procs=0, limit=None),
}
DEFAULT = ("walk-3700", "walk-10000", "walk-100000", "startup-200", "startup-10000", "memory", "dump", "dwarf", "live", "proc-all",
           "proc-all-frozen", "nproc", "proc-stat", "monitor")
QUICK = ("walk-200", "startup-200", "live", "proc-all", "nproc", "proc-stat")
# Of the guest with so many processes; 0: its zoo alone.
MEMORY = {0: "1024M", 1000: "1024M", 3700: "1024M", 10000: "2048M", 100000: "11000M"}
DUMPED = (0, 3700, 10000)  # a dump is as large as the memory


class Bench:
    """What every row needs: kwalk's programs, frozen guests, debug symbols, and how hard to try."""

    kernel = KERNEL  # of all guests

    def __init__(self, build, quick):
        self.build = build
        self.quick = quick

    def say(self, text):
        print(f"bench: {text}", file=sys.stderr, flush=True)

    def program(self, name):
        return self.build / (name if name == "kwalk" else f"tests/bench/{name}")

    @functools.lru_cache
    def guest(self, procs, memory=None):
        """Return the folder of a frozen guest; made now if there is none, which takes minutes. No dumps of own sizes."""
        dumps = ["--dumps"] if procs in DUMPED and not memory else []
        return Path(self.lab("freeze", KERNEL, *dumps, "--procs", procs, "--memory", memory or MEMORY[procs]))

    @functools.lru_cache
    def debug_symbols(self):
        """Return (path of the guests' vmlinux, ""), or (None, why there is none)."""
        if self.quick:
            return None, "left out by --quick: it needs the kernel's debug symbols, a large download"
        try:
            return Path(self.lab("debug", KERNEL)), ""
        except BenchError as error:
            return None, f"no debug symbols: {error}"

    @functools.lru_cache
    def module(self):
        """Return (path of kwalk's kernel module for the guests' kernel, ""), or (None, why there is none)."""
        try:
            return Path(self.lab("module", KERNEL)), ""
        except BenchError:
            return None, "there is no kernel module yet: the lab could not build it"

    def lab(self, *words, whole=False):
        """Run the lab and return the one line that it prints, or the whole of its output.

        It is ended softly, since it has a QEMU to end.
        """
        command = [str(TOP / "scripts/guest/lab"), *map(str, words)]
        self.say(" ".join(["lab", *command[1:]]))
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                              errors="replace") as process:
            try:
                text, _ = process.communicate()
            except BaseException:
                process.terminate()
                raise
        if process.returncode != 0:
            raise BenchError(f"lab {' '.join(command[1:])} failed; it says why above")
        return text if whole else text.strip()


def machine():
    """Describe the machine, as (name, value) pairs."""
    model = re.search(r"(?m)^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(errors="replace"))
    commit = subprocess.run(["git", "-C", str(TOP), "describe", "--always", "--dirty"], check=False,
                            capture_output=True, text=True).stdout.strip()
    return [
        ("cpu", model[1] if model else platform.machine()), ("cores", len(os.sched_getaffinity(0))),
        ("kernel", f"{platform.system()} {platform.release()}"), ("load", round(os.getloadavg()[0], 2)),
        ("kwalk", commit or "unknown"),
    ]


def print_machine(as_json):
    facts = machine()
    if as_json:
        for name, value in facts:
            print(json.dumps({"row": "machine", "name": name, "value": value}), flush=True)
    else:
        print(", ".join(f"{name} {value}" for name, value in facts), flush=True)


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/bench", 
                                     usage="scripts/bench [--quick] [--json] [--check] [--readme] [ROW...]")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--readme", action="store_true")
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("rows", nargs="*")
    args = parser.parse_args()
    if args.readme and args.quick:
        parser.error("--readme: --quick has no figures to show")
    unknown = [name for name in args.rows if name not in ROWS]
    if unknown:
        parser.error(f"unknown row '{unknown[0]}'; there are {' '.join(ROWS)}")
    args.rows = args.rows or (QUICK if args.quick else DEFAULT)
    return args


def run_rows(bench, args):
    """Run the rows; return their figures and how many rows failed."""
    measured, failed = [], 0
    for name in dict.fromkeys(args.rows):
        bench.say(f"row {name}")
        try:
            found = ROWS[name](bench, name)
        except (BenchError, OSError, subprocess.SubprocessError) as error:
            print(f"bench: {name}: {error}", file=sys.stderr)
            failed += 1
            continue
        if bench.quick:
            for figure in found:
                figure.target = None  # so few repetitions say nothing
        else:
            keep(bench.build / KEPT, name, found)
        measured += found
        if args.json:
            print("\n".join(figure.json() for figure in found), flush=True)
    return measured, failed


def keep(path, row, found):
    """Keep a row's figures for README, in place of those that it had in an earlier run."""
    lines = path.read_text().splitlines() if path.exists() else []
    lines = [line for line in lines if json.loads(line)["row"] != row]
    path.write_text("".join(line + "\n" for line in (*lines, *(figure.json() for figure in found))))


def end_on_signal(number, _):
    sys.exit(128 + number)  # unwinds, so that what was started is ended too


def main():
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, end_on_signal)
    args = arguments()
    print_machine(args.json)
    measured, failed = run_rows(Bench(args.build.resolve(), args.quick), args)
    if not args.json and measured:
        print(figures.table(measured))
    if args.readme:
        readme.write(TOP / "README.md", args.build / KEPT)
    return 1 if failed or (args.check and figures.missed(measured)) else 0


if __name__ == "__main__":
    sys.exit(main())
