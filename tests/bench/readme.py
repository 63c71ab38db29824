"""README's table of figures: readme.py README.md FILE, where FILE holds the lines of `scripts/bench --json`.

A line of the table is a row of the bench: kwalk's figures, and those of its peers with how many times as much they are.
They are the minima of the repetitions: a machine that does other work disturbs them least. Shares of a core are medians: of a
program that works now and then, the least second says nothing.
The table stands between two markers; all else in README is left as it is.
"""

import json
import re
import sys
from pathlib import Path

BEGIN, END = "<!-- bench -->", "<!-- /bench -->"
HEAD = ["| what | kwalk | others, and how many times as much |", "|---|---|---|"]
TITLES = {
    "walk-3700": "pid and comm of each of 3,700 processes, frozen RAM",
    "walk-10000": "of 10,000",
    "walk-100000": "of 100,000",
    "startup-200": "start, find the kernel, print 144 processes",
    "startup-10000": "print 10,000",
    "memory": "private memory at 10,000 processes",
    "dump": "print 3,700 out of a zstd dump of 4 GiB",
    "live": "pid and comm of each of 3,700 processes, live (in a guest)",
    "proc-all": "all fields of six files of /proc, of each of 10,000, live",
    "proc-all-frozen": "the same, frozen RAM",
    "nproc": "the fields of statm of each of 1,000, live",
    "proc-stat": "the counters of /proc/stat, live",
    "monitor": "all these fields of 10,000 each second, live",
}
NAMES = {"hand": "hand-written C loop"}
ANEW = "each row anew"
READ = {"kwalk, mapped": "mapped", f"kwalk, mapped, {ANEW}": ANEW, "kwalk, pread": "pread", "kwalk, frozen RAM": "",
        f"kwalk, frozen RAM, {ANEW}": ANEW, "kwalk": ""}


def is_kwalk(name):
    return name.startswith("kwalk")


def three_digits(number):
    return f"{number:.0f}" if number >= 100 else f"{number:.3g}"


def amount(value, unit):
    """Write a value with its unit as people do."""
    steps = ["ns", "us", "ms", "s"]
    scale = unit.partition("/")[0]
    if scale not in steps:
        return f"{three_digits(value)} {unit}"
    at = steps.index(scale)
    while value >= 1000 and at < 3:
        value, at = value / 1000, at + 1
    return f"{three_digits(value)} {steps[at]}"


def shown(figure):
    """The one of a figure's values that stands in the table."""
    return figure["median"] if figure["unit"].startswith("%") else figure["min"]


def own_figures(figures):
    """Keep kwalk's figures that are told apart by how memory is read, or the first one of the row."""
    own = [figure for figure in figures if is_kwalk(figure["name"]) and figure["min"] is not None]
    return [figure for figure in own if figure["name"] in READ] or own[:1]


def others(figures, own):
    """Describe each peer once, with its value over each of kwalk's."""
    texts = {}
    for figure in figures:
        name = figure["name"].partition(" beside ")[0]
        if not is_kwalk(name) and " at " not in name and figure["min"] is not None:
            ratios = ", ".join(three_digits(shown(figure) / shown(kwalk)) for kwalk in own)
            title = f"`{name}`" if re.match(r"(ps|top|atop|lseek|open)\b", name) else NAMES.get(name, name)
            texts[name] = f"{title} {amount(shown(figure), figure['unit'])} ({ratios})"
    return "; ".join(texts.values())


def table(figures):
    lines = list(HEAD)
    for row, title in TITLES.items():
        of_row = [figure for figure in figures if figure["row"] == row]
        own = own_figures(of_row)
        if own:
            values = ", ".join((READ.get(figure["name"], "") + " " + amount(shown(figure), figure["unit"])).strip()
                               for figure in own)
            lines.append(f"| {title} | {values} | {others(of_row, own)} |")
    return lines


def write(path, results):
    """Put the table of those figures into the README at path."""
    figures = [json.loads(line) for line in results.read_text().splitlines()]
    lines = table([figure for figure in figures if "unit" in figure])  # without those of the machine
    text = path.read_text()
    if text.count(BEGIN) != 1 or text.count(END) != 1:
        sys.exit(f"{path}: there must be one {BEGIN} and one {END}")
    if len(lines) == len(HEAD):
        sys.exit(f"{results}: no figure in it belongs into the table")
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    path.write_text(before + "\n".join([BEGIN, *lines, END]) + after)


if __name__ == "__main__":
    write(Path(sys.argv[1]), Path(sys.argv[2]))
