"""Cases of the command line in a text, each with exactly what it writes and returns.

    % make_image guest.ram <tasks       run once, before the cases, in a folder of its own
    : tasks                             a file with the lines that follow it, up to an empty one
    | 1 init

    # one_process                       the name of a case
    ? as-nobody true                    it is skipped where this fails
    $ kwalk -t guest.ram ps -o pid      what is run, by bash; more lines go on from ">"
    out| PID
    out|   1
    err\ no newline at its end          a last line that has none
    exit 0

In the folder `kwalk` is the program under test, `make_image` writes small kernels (tests/fixtures/make_image.c), `make_form` other forms of them (tests/fixtures/forms.py),
and `as-nobody` runs a command without privileges. Bytes that are not printable ASCII stand as \\xNN, backslashes twice.

A test calls main() with the name of its text. With --update it writes what comes out back into the text.
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
KWALK = pathlib.Path(os.environ.get("KWALK", ROOT / "build/kwalk")).resolve()
GOLDEN = ROOT / "tests/cli/golden"

AS_NOBODY = """#!/bin/sh
[ "$(id -u)" -ne 0 ] || exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
exec "$@"
"""


class Case:
    def __init__(self, name, number):
        self.name = name
        self.number = number  # of its first line, for messages
        self.condition = None
        self.command = []
        self.expected = []


def parse(text):
    """The lines before the first case, and the cases."""
    preamble, cases = [], []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("# ") and (not cases or cases[-1].command):
            cases.append(Case(line[2:], number))
        elif not cases:
            preamble.append(line)
        elif line.startswith("? "):
            cases[-1].condition = line[2:]
        elif line.startswith("$ "):
            cases[-1].command = [line[2:]]
        elif line.startswith("> "):
            cases[-1].command.append(line[2:])
        elif line:
            cases[-1].expected.append(line)
    return preamble, cases


def escape(data):
    text = "".join(chr(byte) if 32 <= byte < 127 else f"\\x{byte:02x}" for byte in data.replace(b"\\", b"\\\\"))
    return text


def show(prefix, data):
    """The lines of an output, with their prefix."""
    if not data:
        return []
    lines = data.split(b"\n")
    whole = [f"{prefix}| {escape(line)}".rstrip() for line in lines[:-1]]
    return whole + ([f"{prefix}\\ {escape(lines[-1])}"] if lines[-1] else [])


class Folder:
    """Where the commands of a text are run."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.path.chmod(0o755)
        tools = self.path / ".bin"
        tools.mkdir()
        (tools / "kwalk").symlink_to(KWALK)
        (tools / "make_image").symlink_to(KWALK.parent / "tests/fixtures/make_image")
        (tools / "make_form").symlink_to(ROOT / "tests/fixtures/forms.py")
        (tools / "as-nobody").write_text(AS_NOBODY)
        (tools / "as-nobody").chmod(0o755)
        self.environment = {name: value for name, value in os.environ.items()
                            if name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LD_LIBRARY_PATH")}
        self.environment.update(PATH=f"{tools}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", LC_ALL="C.UTF-8", TZ="UTC",
                                TERM="xterm", HOME=str(self.path))

    def run(self, command):
        return subprocess.run(["bash", "-c", command], cwd=self.path, env=self.environment, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=60, check=False)

    def prepare(self, preamble):
        name = None
        for line in preamble:
            if line.startswith(": "):
                name = line[2:]
                (self.path / name).write_text("")
            elif line.startswith("|") and name:
                with (self.path / name).open("a") as file:
                    file.write(line[2:] + "\n")
            elif line.startswith("% "):
                result = self.run("set -e; " + line[2:])
                if result.returncode:
                    sys.exit(f"{line}: {result.stderr.decode(errors='replace')}")

    def outcome(self, case):
        result = self.run("\n".join(case.command))
        return (show("out", result.stdout) + show("err", result.stderr) + [f"exit {result.returncode}"])


def differences(wanted, got):
    lines = [f"    want  {line}" for line in wanted if line not in got]
    lines += [f"    got   {line}" for line in got if line not in wanted]
    return lines or [f"    want  {line}" for line in wanted] + [f"    got   {line}" for line in got]


def check(folder, case):
    """Run a case and print its line; the lines that it gave, or None when it was skipped."""
    if case.condition and folder.run(case.condition).returncode:
        print(f"skip {case.name} not here: {case.condition}")
        return None
    got = folder.outcome(case)
    if got == case.expected:
        print(f"ok {case.name}")
    else:
        print(f"not ok {case.name} (line {case.number}: {shlex.quote(' '.join(case.command))})")
        print("\n".join(differences(case.expected, got)))
    return got


def write(path, preamble, cases):
    lines = list(preamble)
    while lines and not lines[-1]:
        lines.pop()
    for case in cases:
        lines += ["", f"# {case.name}"] + ([f"? {case.condition}"] if case.condition else [])
        lines += [f"$ {case.command[0]}"] + [f"> {line}" for line in case.command[1:]] + case.expected
    path.write_text("\n".join(lines).lstrip("\n") + "\n")


def main(name):
    update = sys.argv[1:] == ["--update"]
    if sys.argv[1:] and not update:
        sys.exit(f"{sys.argv[0]}: unknown option; there is --update")
    path = GOLDEN / f"{name}.txt"
    preamble, cases = parse(path.read_text())
    names = [case.name for case in cases]
    if len(set(names)) != len(names) or not all(re.fullmatch(r"\w+", name) for name in names):
        sys.exit(f"{path}: the names of cases must be words, each used once")
    with tempfile.TemporaryDirectory(prefix="kwalk-golden-") as scratch:
        folder = Folder(scratch)
        folder.prepare(preamble)
        for case in cases:
            got = check(folder, case)
            if update and got is not None:
                case.expected = got
    if update:
        write(path, preamble, cases)
