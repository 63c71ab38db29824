"""Peers that have to be brought into a guest with all that they need."""

import zipfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
PYTHON_LIBRARY = Path("/usr/lib/python3.11")


@dataclass
class Peer:
    """How to run it in a guest, or why it can't be."""

    command: str = ""
    files: tuple = ()
    memory: int = 0  # MiB more than a guest has otherwise
    why: str = ""


def drgn_for_guest(bench):
    return Peer(why="not tried yet")
