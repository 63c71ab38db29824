"""Row dump: a kdump-compressed dump of 4 GiB, zstd, level 31, out of which kwalk, drgn and crash print the processes.

makedumpfile makes the dump of the frozen guest's RAM; as Debian's cannot pack with zstd, its pages are packed anew. drgn
and crash read a file that differs in nothing else but the packing, which their libraries may not know.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import guests
import programs
import row_startup
from figures import Figure, Target

HERE = Path(__file__).resolve().parent
FORMS = HERE.parent / "fixtures/forms.py"
RUNS, QUICK_RUNS = 10, 3
PEER_RUNS = 2
LIMIT_MS, LIMIT_MIB = 1000, 300


def run_quietly(command, **options):
    done = subprocess.run([str(word) for word in command], check=False, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    if done.returncode:
        raise programs.BenchError(f"{' '.join(map(str, command))}: ended with {done.returncode}")


def make_dumps(kwalk, ram, folder):
    """Return the dump packed with zstd and the same packed with zlib, made once and kept beside each other."""
    zstd, zlib = folder / "dump-31.zstd", folder / "dump-31.zlib"
    if not zstd.exists():
        lines = programs.output_of([kwalk, "-t", str(ram), "--format", "jsonl", "info", "-s"]).splitlines()
        segments = sorted(map(json.loads, lines), key=lambda segment: segment["kind"] != "text")
        words = [f"{segment['virtual']}:{segment['physical']}:{segment['size']}" for segment in segments]
        core = folder / "vmcore"
        run_quietly([sys.executable, FORMS, "vmcore", ram, core, *words])
        run_quietly(["makedumpfile", "-c", "-d", "31", core, zlib])
        run_quietly([sys.executable, FORMS, "repack-zstd", zlib, zstd])
        core.unlink()
    return zstd, zlib


def forget(path):
    """Have nothing of a file in the page cache: a cold start."""
    with open(path, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def peak_mib(command):
    """The most memory that a program has had, shared pages and all."""
    text = subprocess.run(["/usr/bin/env", "python3", "-c", "import resource, subprocess, sys; "
                           "subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True); "
                           "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)", *command],
                          check=True, stdout=subprocess.PIPE, text=True).stdout
    return int(text) / 1024


def measure_peers(bench, row, zlib, wanted, first):
    vmlinux, obstacle = bench.debug_symbols()
    figures = [Figure(row, name, "ms", peer=first, target=Target("ratio", ">=", 5)) for name in ("drgn", "crash")]
    with tempfile.TemporaryDirectory() as folder:
        commands = Path(folder) / "commands"
        commands.write_text(row_startup.CRASH_COMMANDS)
        for figure, command in zip(figures, (
                ["/usr/bin/drgn", "-q", "-c", str(zlib), "-s", str(vmlinux), str(HERE / "drgn_list.py")],
                ["/usr/bin/crash", "-s", "-i", str(commands), str(vmlinux), str(zlib)])):
            if vmlinux is None:
                figure.note = obstacle
            elif not shutil.which(command[0]):
                figure.note = f"{command[0]} is not installed"
            else:
                row_startup.time_lister(figure, command, wanted, PEER_RUNS, folder)
                figure.note = figure.note or "the same dump packed with zlib, in the page cache"
    return figures


def run(bench, row, procs):
    if not shutil.which("makedumpfile"):
        raise programs.BenchError("makedumpfile is not installed")
    kwalk = str(bench.program("kwalk"))
    guest = bench.guest(procs, "4096M")
    zstd, zlib = make_dumps(kwalk, guest / "ram", guest)
    command = [kwalk, "-t", str(zstd), "ps"]
    wanted = guests.lasting(guests.true_parents(guest))
    listed = row_startup.listed_pids(programs.output_of([*command, "-o", "pid", "--no-headers"]))
    if not wanted <= listed:
        raise programs.BenchError(f"kwalk ps lacks {sorted(wanted - listed)}")
    cold = Figure(row, "kwalk, cold", "ms", target=Target("value", "<=", LIMIT_MS),
                  note=f"{len(listed)} processes; the dump is not in the page cache")
    warm = Figure(row, "kwalk", "ms")
    for _ in range(QUICK_RUNS if bench.quick else RUNS):
        forget(zstd)
        cold.samples.append(programs.timed(command)[0])
        warm.samples.append(programs.timed(command)[0])
    memory = Figure(row, "kwalk, memory", "MiB", [peak_mib(command)], target=Target("value", "<=", LIMIT_MIB),
                    note="resident at most")
    return [warm, cold, memory, *measure_peers(bench, row, zlib, wanted, warm)]
