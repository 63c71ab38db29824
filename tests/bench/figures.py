"""Figures: what a row of the bench measured, what it is compared with, and whether that was the aim."""

import json
import statistics
from dataclasses import dataclass, field

COLUMNS = ("row", "figure", "min", "median", "max", "unit", "runs", "ratio", "target", "")
RIGHT_ALIGNED = {"min", "median", "max", "runs"}


@dataclass
class Target:
    """A limit on a figure's value (its median), or on its ratio to the peer's."""

    of: str  # "value" or "ratio"
    relation: str  # "<=" or ">="
    limit: float

    def is_met(self, number):
        return number <= self.limit if self.relation == "<=" else number >= self.limit

    def text(self, unit):
        return f"{self.relation} {self.limit:g} {unit if self.of == 'value' else 'x'}"


@dataclass
class Figure:
    """Repetitions of one measurement; none when it could not be made, and then the note says why."""

    row: str
    name: str
    unit: str
    samples: list = field(default_factory=list)
    peer: "Figure" = None  # ratio = this figure's median over the peer's, of the same run
    target: Target = None
    note: str = ""

    @property
    def value(self):
        return statistics.median(self.samples) if self.samples else None

    @property
    def ratio(self):
        if self.peer is None or not self.samples or not self.peer.value:
            return None
        return self.value / self.peer.value

    @property
    def ratio_min(self):
        """The ratio of the minima: what is left of it when other work disturbed the medians."""
        return min(self.samples) / min(self.peer.samples) if self.ratio is not None else None

    @property
    def met(self):
        """True or False; None where there is no target or nothing was measured."""
        number = getattr(self, self.target.of) if self.target else None
        return None if number is None else self.target.is_met(number)

    def json(self):
        return json.dumps({
            "row": self.row, "name": self.name, "unit": self.unit, "value": rounded(self.value),
            "min": rounded(min(self.samples, default=None)), "median": rounded(self.value),
            "max": rounded(max(self.samples, default=None)), "runs": len(self.samples),
            "peer": self.peer.name if self.peer else None, "ratio": rounded(self.ratio),
            "ratio_min": rounded(self.ratio_min), "target": self.target.text(self.unit) if self.target else None,
            "met": self.met, "note": self.note or None,
        })

    def cells(self):
        numbers = [short(pick(self.samples)) if self.samples else "-" for pick in (min, statistics.median, max)]
        ratio = ""
        if self.ratio is not None:
            ratio = f"{short(self.ratio)} x {self.peer.name} (minima {short(self.ratio_min)})"
        target = self.target.text(self.unit) if self.target else ""
        verdict = {True: "met", False: "MISSED", None: ""}[self.met]
        return [self.row, self.name, *numbers, self.unit, str(len(self.samples)), ratio, target, verdict]


def rounded(number):
    return None if number is None else float(f"{number:.5g}")


def short(number):
    """Three digits that count, without an exponent."""
    return f"{number:.0f}" if number >= 100 else f"{number:.3g}"


def missed(figures):
    return [figure for figure in figures if figure.met is False]


def table(figures):
    """Lay the figures out as text; notes follow below, each with the figure that it belongs to."""
    rows = [list(COLUMNS), *(figure.cells() for figure in figures)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(COLUMNS))]
    lines = []
    for row in rows:
        cells = [cell.rjust(width) if name in RIGHT_ALIGNED else cell.ljust(width)
                 for name, cell, width in zip(COLUMNS, row, widths)]
        lines.append("  ".join(cells).rstrip())
    lines += [f"{figure.row} {figure.name}: {figure.note}" for figure in figures if figure.note]
    for figure in missed(figures):
        number = getattr(figure, figure.target.of)
        unit = figure.unit if figure.target.of == "value" else f"x {figure.peer.name}"
        lines.append(f"MISSED {figure.row} {figure.name}: {short(number)} {unit}, wanted {figure.target.text(figure.unit)}")
    return "\n".join(lines)
