"""Peers that have to be brought into a guest with all that they need."""

import zipfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGES = Path("/usr/lib/python3/dist-packages")
MEMORY_FOR_DRGN = 2600  # MiB: the kernel's debug symbols twice, and what drgn makes of them


@dataclass
class Peer:
    """How to run it in a guest, or why it can't be."""

    command: str = ""
    files: tuple = ()
    memory: int = 0  # MiB more than a guest has otherwise
    why: str = ""


def python_library(version, folder):
    """Pack Python's own modules into the archive where it looks for them; return (archive, its path in the guest)."""
    name = f"python{version.replace('.', '')}.zip"
    library = Path(f"/usr/lib/python{version}")
    with zipfile.ZipFile(folder / name, "w") as archive:
        for path in sorted(library.rglob("*.py")):
            inside = path.relative_to(library)
            if inside.parts[0] not in ("test", "idlelib", "tkinter", "lib2to3", "ensurepip", "pydoc_data"):
                archive.write(path, inside)
    return folder / name, f"/usr/lib/{name}"


def drgn_for_guest(bench, folder):
    """Return drgn with its Python, and the kernel's debug symbols, which it can't do without. folder: for its parts."""
    vmlinux, why = bench.debug_symbols()
    if vmlinux is None:
        return Peer(why=why)
    python = Path("/usr/bin/python3").resolve()
    version = python.name.removeprefix("python")
    modules = [(path, path) for path in sorted(PACKAGES.glob("_drgn*.so"))]
    if not modules:
        return Peer(why="python3-drgn is not installed")
    modules += [(PACKAGES / "drgn", PACKAGES / "drgn")]
    dynamic = f"/usr/lib/python{version}/lib-dynload"
    return Peer(command=f"env PYTHONHOME=/usr PYTHONPATH={PACKAGES} {python} -S /drgn_walk.py live /vmlinux",
                files=((python, python), python_library(version, folder), (dynamic, dynamic), *modules,
                       (HERE / "drgn_walk.py", "/drgn_walk.py"), (vmlinux, "/vmlinux")), memory=MEMORY_FOR_DRGN)
