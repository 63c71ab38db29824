"""Make a frozen guest: its RAM, and what its own /proc said at that moment."""

import hashlib
import shutil
import subprocess
import time
from dataclasses import dataclass

from host import cache, initramfs, kernel, machine, truth

# Raise it when frozen guests change through this file, and no other part of their digest tells.
EDITION = 1
# An idle process costs about 93 KB, its part of the record 12 KB; the rest is kernel, initramfs, zoo and record.
BASE_MEMORY = 384 << 20
PROCESS_MEMORY = 108 << 10
DUMPS = (
    ("elf-phys.core", {"paging": False}),
    ("elf-virt.core", {"paging": True}),
    ("kdump-zlib", {"paging": False, "format": "kdump-zlib"}),
)


@dataclass(frozen=True)
class Wish:
    """What kind of frozen guest is asked for. memory is in bytes."""

    version: str
    procs: int = 0
    threads: int = 0
    memory: int = 1 << 30
    smp: int = 2
    machine: str = "pc"
    cpu: str = "qemu64"
    dumps: bool = False


def parameters_of(wish):
    return f"kw.mode=freeze kw.procs={wish.procs} kw.threads={wish.threads}"


def place_of(wish, kernel_folder):
    """Name the folder after all that decides what a frozen guest holds: kernel, program, machine, the wish."""
    digest = hashlib.sha256((kernel_folder / "meta").read_bytes())
    here = initramfs.HERE
    for path in sorted([*here.glob("*.[ch]"), here / "host" / "initramfs.py", here / "host" / "truth.py"]):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    hardware = machine.hardware(wish.memory, wish.smp, wish.machine, wish.cpu)
    digest.update(repr((EDITION, wish, hardware, machine.kernel_parameters(parameters_of(wish)))).encode())
    return cache.room("frozen") / f"{wish.version}-{digest.hexdigest()[:12]}"


def lock_of(name):
    return f"frozen-{name}"


def clean():
    """Remove all frozen guests, and what is left of unfinished ones, but none that is being made now."""
    for folder in cache.room("frozen").iterdir():
        name = folder.name.strip(".").rsplit(".", 1)[0] if folder.name.startswith(".") else folder.name
        with cache.locked(lock_of(name), wait=False) as free:
            if free:
                shutil.rmtree(folder, ignore_errors=True)


def freeze(wish):
    """Return the folder of the frozen guest that wish describes, making it if the cache has none."""
    check_memory(wish)
    kernel_folder = kernel.fetch(wish.version)
    place = place_of(wish, kernel_folder)
    with cache.locked(lock_of(place.name)):
        if not (place / "meta").exists():
            with cache.building(place) as work:
                make(wish, kernel_folder, work)
    return place


def check_memory(wish):
    needed = BASE_MEMORY + wish.procs * PROCESS_MEMORY
    if wish.memory < needed:
        raise cache.LabError(f"{wish.procs} processes need --memory {(needed + (1 << 20) - 1) >> 20}M or more")


def make(wish, kernel_folder, work):
    image = work / "initramfs"
    initramfs.pack(image, kernel_folder)
    timeout = machine.BOOT_TIMEOUT + machine.seconds_for(wish.procs)
    began = time.monotonic()
    with cache.logs_kept(work), machine.Machine(
            work, kernel=kernel_folder, initramfs=image, memory=wish.memory, smp=wish.smp, machine=wish.machine,
            cpu=wish.cpu, parameters=parameters_of(wish)) as guest:
        guest.qmp.await_event("GUEST_PANICKED", timeout)
        frozen_after = time.monotonic() - began
        control = guest.control_text()
        if not control.endswith("FREEZE\n"):
            raise guest.trouble("the guest's kernel panicked")
        if wish.dumps:
            dump(guest, work)
    keep(wish, kernel_folder, work, control, frozen_after)


def dump(guest, work):
    for name, options in DUMPS:
        guest.qmp.call("dump-guest-memory", timeout=600, protocol=f"file:{work / name}", **options)


def keep(wish, kernel_folder, work, control, frozen_after):
    """Turn the files of a stopped guest into the frozen folder's contents."""
    low = machine.low_memory(wish.machine, wish.memory)
    archive, count = truth.read_archive(work / "ram", control, low)
    folder = work / "truth"
    folder.mkdir()
    zoo = truth.lay_down(archive, count, folder)
    (work / "zoo.tsv").write_text(zoo)
    for name in ("ram", *(name for name, _ in DUMPS)):
        if (work / name).exists():
            subprocess.run(["fallocate", "--dig-holes", str(work / name)], check=False)
    missing = [line.split("\t")[1] for line in control.splitlines() if line.startswith("MISSING")]
    kernel_meta = kernel.meta(kernel_folder)
    fields = {
        "KERNEL": wish.version, "RELEASE": kernel_meta["RELEASE"],
        "PACKAGE_VERSION": kernel_meta["PACKAGE_VERSION"], "KERNEL_FOLDER": kernel_folder,
        "MACHINE": wish.machine, "CPU": wish.cpu, "SMP": wish.smp, "MEMORY": wish.memory, "LOW_MEMORY": low,
        "PROCS": wish.procs, "THREADS": wish.threads, "DUMPS": int(wish.dumps), "ZOO_MISSING": ",".join(missing),
        "RECORDER_PID": 1, "FROZEN_AFTER_SECONDS": f"{frozen_after:.1f}",
    }
    (work / "initramfs").unlink()
    for name in ("control", "qemu.log", "qemu.pid", "output"):
        (work / name).unlink(missing_ok=True)
    (work / "meta").write_text("".join(f"{key}={value}\n" for key, value in fields.items()))
