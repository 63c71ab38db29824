"""What is in a frozen guest's folder besides its memory: what its own /proc showed."""

KTHREADD = 2


def true_parents(guest):
    """Return {PID: parent's PID} of the processes that the guest's /proc showed just before it was frozen."""
    parents = {}
    for path in (guest / "truth" / "proc").glob("[0-9]*/stat"):  # none where it ended meanwhile
        stat = path.read_bytes()
        parents[int(path.parent.name)] = int(stat[stat.rindex(b")") + 1:].split()[1])
    return parents


def lasting(parents):
    """Leave out kernel threads: workers come and go between the look at /proc and the freeze."""
    return {pid for pid, parent in parents.items() if parent != KTHREADD}
