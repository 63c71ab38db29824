"""Where the lab keeps what it made: one root, one lock per entry, and entries that appear whole or not at all.

KWALK_CACHE names the root (default ~/.cache/kwalk). An entry is built in a directory beside its place and
renamed when it is complete, so a reader never sees half of one.
"""

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path


class LabError(Exception):
    """What went wrong, in words for the person at the terminal."""

    status = 1  # to exit with


def root():
    named = os.environ.get("KWALK_CACHE")
    path = Path(named) if named else Path.home() / ".cache" / "kwalk"
    path.mkdir(parents=True, exist_ok=True)
    return path.resolve()


def room(name):
    path = root() / name
    path.mkdir(parents=True, exist_ok=True)
    return path


@contextlib.contextmanager
def locked(name, wait=True):
    """Hold the lock called name: one builder at a time for each entry. The kernel drops it if we die.

    Yields True, or without wait False where somebody else holds it.
    """
    with open(room("locks") / name, "a", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True


@contextlib.contextmanager
def building(place):
    """Yield a fresh directory that becomes place when the block ends well, and vanishes when it does not."""
    place.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{place.name}.", dir=place.parent))
    try:
        yield work
        work.chmod(0o755)
        if place.is_dir():
            shutil.rmtree(place)
        work.rename(place)
    finally:
        shutil.rmtree(work, ignore_errors=True)


@contextlib.contextmanager
def logs_kept(folder):
    """If the block fails, save folder's logs and let the error name them where they are then."""
    try:
        yield
    except LabError as error:
        raise type(error)(str(error).replace(str(folder), str(keep_failure(folder)))) from None


def keep_failure(folder):
    """Save the logs of a guest that failed, since its folder is about to vanish; return where they are now."""
    place = room("failed") / folder.name.strip(".")
    place.mkdir(exist_ok=True)
    for name in ("console.log", "control", "qemu.log"):
        if (folder / name).exists():
            (folder / name).replace(place / name)
    shutil.rmtree(folder, ignore_errors=True)
    return place
