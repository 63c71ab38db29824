"""Programs that the bench runs: timed from start to end, asked over a pipe, or just kept; none outlives its block."""

import contextlib
import os
import signal
import subprocess
import time

OUTPUT = os.open(os.devnull, os.O_WRONLY)
INPUT = os.open(os.devnull, os.O_RDONLY)


class BenchError(Exception):
    """What went wrong, in words for the person at the terminal."""


def timed(command):
    """Run a whole program with its output thrown away; return the milliseconds it took and those of CPU time."""
    actions = [(os.POSIX_SPAWN_DUP2, INPUT, 0), (os.POSIX_SPAWN_DUP2, OUTPUT, 1)]
    start = time.perf_counter()
    pid = os.posix_spawnp(command[0], command, os.environ, file_actions=actions)
    try:
        _, status, usage = os.wait4(pid, 0)
    except BaseException:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        raise
    wall = time.perf_counter() - start
    if status != 0:
        raise BenchError(f"{' '.join(command)}: ended with {os.waitstatus_to_exitcode(status)}")
    return wall * 1000, (usage.ru_utime + usage.ru_stime) * 1000


def output_of(command, timeout=600, cwd=None, may_fail=False):
    """Run a program and return what it printed."""
    done = subprocess.run(command, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL if may_fail else None, timeout=timeout, cwd=cwd)
    if done.returncode != 0 and not may_fail:
        raise BenchError(f"{' '.join(map(str, command))}: ended with {done.returncode}")
    return done.stdout.decode(errors="replace")


@contextlib.contextmanager
def kept(command, **options):
    """Start a program and end it with the block: first by the end of its input, then by force."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, **options) as process:
        try:
            yield process
        finally:
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                process.kill()


class Server:
    """A program that answers a line with a line."""

    def __init__(self, process):
        self.process = process

    def read(self):
        line = self.process.stdout.readline()
        if not line.endswith("\n"):
            raise BenchError(f"{self.process.args[0]} ended without an answer")
        return line.split()

    def ask(self, *words):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(" ".join(map(str, words)) + "\n")
            self.process.stdin.flush()
        return self.read()


@contextlib.contextmanager
def server(command):
    with kept(command, stdout=subprocess.PIPE, text=True) as process:
        yield Server(process)


@contextlib.contextmanager
def real_processes(bench, wanted):
    """See that at least so many processes exist on this machine."""
    lacking = wanted - sum(name.isdigit() for name in os.listdir("/proc"))
    if lacking <= 0:
        yield
        return
    bench.say(f"starting {lacking} sleeping processes")
    with server([str(bench.program("bench_sleepers")), str(lacking)]) as sleepers:
        if sleepers.read() != ["ready"]:
            raise BenchError("bench_sleepers did not start")
        yield
