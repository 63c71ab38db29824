"""Triples of the query language: a program, the kernel it is asked of, and exactly what comes out.

    : 1 init vsz=1000                   first the tasks of a small kernel (tests/fixtures/kernel_image.h)

    # one_process                       the name of a triple
    $ --format json                     options, where there are any
    > tasks where pid == 1              the program, a line or several
    out| PID COMMAND
    out|   1 init
    exit 0                              err| lines are what is said of a mistake

A file of triples is NAME.txt beside NAME.test, which calls main("NAME"). With --update it writes what comes out back into
the text: read it, for that is what the language will be held to.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/cli"))

from golden import KWALK, differences, show  # noqa: E402

MAKE_IMAGE = KWALK.parent / "tests/fixtures/make_image"


class Triple:
    def __init__(self, name, number):
        self.name = name
        self.number = number  # of its first line, for messages
        self.options = []
        self.program = []
        self.expected = []


def parse(text):
    """The lines before the first triple, and the triples."""
    preamble, triples = [], []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("# "):
            triples.append(Triple(line[2:], number))
        elif not triples:
            preamble.append(line)
        elif line.startswith("$ "):
            triples[-1].options = line[2:].split()
        elif line.startswith(">") and not triples[-1].expected:
            triples[-1].program.append(line[2:])
        elif line:
            triples[-1].expected.append(line)
    return preamble, triples


def write(path, preamble, triples):
    lines = list(preamble)
    while lines and not lines[-1]:
        lines.pop()
    for triple in triples:
        lines += ["", f"# {triple.name}"] + ([f"$ {' '.join(triple.options)}"] if triple.options else [])
        lines += [f"> {line}".rstrip() for line in triple.program] + triple.expected
    path.write_text("\n".join(lines) + "\n")


def without_times(data):
    """Times of samples differ from run to run, and a busy machine misses ticks."""
    data = re.sub(rb"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}", b"DATE TIME", data)
    data = re.sub(rb'"time":\d+,"monotonic":\d+', b'"time":TIME,"monotonic":TIME', data)
    data = re.sub(rb"^kwalk: \d+ ticks? missed before tick \d+\n", b"", data, flags=re.M)
    return re.sub(rb"^\d{19}([,\t])\d+\b", rb"TIME\1TIME", data, flags=re.M)


def run(folder, triple, verb):
    """Run a query, or a script from standard input with its options in front of, and its arguments behind, a "-"."""
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "TZ": "UTC", "TERM": "xterm"}
    program = "\n".join(triple.program)
    command = [KWALK, "-t", "guest.ram", verb, *triple.options, *([program] if verb == "query" else [])]
    if verb == "run" and "-" not in triple.options:
        command.append("-")
    result = subprocess.run(command, cwd=folder, env=environment, input=program.encode(), capture_output=True,
                            timeout=60, check=False)
    shown = show("out", without_times(result.stdout)) + show("err", without_times(result.stderr))
    for file in sorted(pathlib.Path(folder).glob("out.*")):
        shown += [f"file {file.name}"] + show("   ", without_times(file.read_bytes()))
        file.unlink()
    return shown + [f"exit {result.returncode}"]


def main(name, verb="query"):
    update = sys.argv[1:] == ["--update"]
    path = ROOT / "tests/query" / f"{name}.txt"
    preamble, triples = parse(path.read_text())
    names = [triple.name for triple in triples]
    if len(set(names)) != len(names) or not all(re.fullmatch(r"\w+", name) for name in names):
        sys.exit(f"{path}: the names of triples must be words, each used once")
    tasks = "".join(line[2:] + "\n" for line in preamble if line.startswith(": "))
    with tempfile.TemporaryDirectory(prefix="kwalk-query-") as folder:
        subprocess.run([MAKE_IMAGE, "guest.ram"], cwd=folder, input=tasks.encode(), check=True)
        for triple in triples:
            got = run(folder, triple, verb)
            if got == triple.expected:
                print(f"ok {triple.name}")
            else:
                print(f"not ok {triple.name} (line {triple.number})")
                print("\n".join(differences(triple.expected, got)))
            if update:
                triple.expected = got
    if update:
        write(path, preamble, triples)
