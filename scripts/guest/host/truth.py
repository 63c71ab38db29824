"""Take the guest's record of /proc out of its frozen RAM and lay it down as files.

record.c describes the archive. The guest told its pages over the control file before it recorded: `ARENA bytes`,
then runs of pages, `PAGES first-page-number count`.
"""

import errno
import mmap
import re
import struct

from host.cache import LabError

PAGE = 4096
HEADER = struct.Struct("<8sQQQ")
RECORD = struct.Struct("<4sIIi")


def read_archive(ram_path, control, low):
    """Gather the archive's pages from the RAM file; low is the RAM size below 4 GiB."""
    runs = [(int(first), int(count)) for first, count in re.findall(r"(?m)^PAGES (\d+) (\d+)$", control)]
    total = re.search(r"(?m)^ARENA (\d+)$", control)
    if not total or sum(count for _, count in runs) * PAGE != int(total[1]):
        raise LabError("the guest did not tell all the pages of its record")
    parts = []
    with open(ram_path, "rb") as ram, mmap.mmap(ram.fileno(), 0, prot=mmap.PROT_READ) as memory:
        for first, count in runs:
            start = first * PAGE
            if start >= 1 << 32:
                start += low - (1 << 32)
            parts.append(memory[start:start + count * PAGE])
    archive = b"".join(parts)
    magic, used, records, moved = HEADER.unpack_from(archive)
    if magic != b"KWTRUTH1" or used > len(archive):
        raise LabError("the guest's record is not where it said")
    if moved:
        raise LabError(f"{moved} pages of the guest's record moved while it was written")
    return archive[:used], records


def records_of(archive, count):
    at = HEADER.size
    for _ in range(count):
        magic, name_len, data_len, error = RECORD.unpack_from(archive, at)
        if magic != b"KWRC":
            raise LabError("the guest's record is damaged")
        at += RECORD.size
        name = archive[at:at + name_len].decode()
        at += name_len
        yield name, archive[at:at + data_len], error
        at += data_len
    if at != len(archive):
        raise LabError("the guest's record is damaged: data behind the last file")


def lay_down(archive, count, folder):
    """Write each record as a file below folder; one that could not be read becomes NAME.errno, holding the reason.

    Returns the text of zoo.tsv, which is no part of /proc.
    """
    zoo = ""
    made = set()
    for name, data, error in records_of(archive, count):
        if name == "zoo.tsv":
            zoo = data.decode()
            continue
        path = folder / ("kallsyms" if name == "proc/kallsyms" else name)
        if path.parent not in made:
            path.parent.mkdir(parents=True, exist_ok=True)
            made.add(path.parent)
        if error:
            path = path.with_name(path.name + ".errno")
            data = f"{error} {errno.errorcode.get(error, '?')}\n".encode()
        path.write_bytes(data)
    (folder / "proc" / "kallsyms").symlink_to("../kallsyms")
    notes = folder / "sys" / "kernel" / "notes"
    if notes.exists():
        (notes.parent / "notes.hex").write_text(notes.read_bytes().hex() + "\n")
    return zoo
