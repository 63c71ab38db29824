"""Row memory: how much memory of its own `kwalk ps` has at most, while it runs.

It counts what no other process could share: Private_Dirty of all mappings, and Private_Clean of all but the target
file's, whose clean pages are the page cache's. Its output goes to a pipe of one page that is emptied only after a look,
so that kwalk stands still again and again, the last time with all its rows in hand.
"""

import fcntl
import os
import re
import select
import subprocess
import time

import guests
import programs
from figures import Figure, Target

RUNS, QUICK_RUNS = 5, 1
LIMIT_MIB = 32
STALLED = 0.002  # seconds without output after which kwalk is taken to wait for the pipe's reader


def private_bytes(pid, target):
    """Add up the private memory of a process, or return None when it is gone."""
    total, is_target = 0, False
    try:
        with open(f"/proc/{pid}/smaps", encoding="utf-8", errors="replace") as smaps:
            for line in smaps:
                if re.match(r"[0-9a-f]+-[0-9a-f]+ ", line):
                    is_target = line.rstrip().endswith(target)
                elif line.startswith("Private_Dirty:") or (line.startswith("Private_Clean:") and not is_target):
                    total += int(line.split()[1]) * 1024
    except (FileNotFoundError, ProcessLookupError):
        return None
    return total or None


def drain(process, pipe):
    """Take what is in the pipe; false at its end."""
    readable, _, _ = select.select([pipe], [], [], 0)
    return not readable or bool(os.read(pipe, 1 << 16))


def peak(command, target):
    """Run kwalk, looking at its memory all the time, and return the most that was seen."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
        try:
            pipe = process.stdout.fileno()
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, 4096)
            most, is_open = 0, True
            while is_open:
                most = max(most, private_bytes(process.pid, target) or 0)
                time.sleep(STALLED)
                most = max(most, private_bytes(process.pid, target) or 0)
                is_open = drain(process, pipe)
        except BaseException:
            process.kill()
            raise
    if process.returncode != 0:
        raise programs.BenchError(f"{' '.join(command)}: ended with {process.returncode}")
    return most


def run(bench, row, procs):
    guest = bench.guest(procs)
    ram = str(guest / "ram")
    command = [str(bench.program("kwalk")), "-t", ram, "ps"]
    samples = [peak(command, ram) / 2**20 for _ in range(QUICK_RUNS if bench.quick else RUNS)]
    return [Figure(row, "kwalk, private memory", "MiB", samples, target=Target("value", "<=", LIMIT_MIB),
                   note=f"the most seen while it ran; {len(guests.true_parents(guest))} processes")]
