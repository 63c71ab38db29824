"""Guests left running, for trying kwalk on a live one. Each ends by itself when its life is over."""

import os
import shutil
import tempfile
from pathlib import Path

from host import cache, initramfs, kernel, machine


def start(version, *, memory, smp, life, busy, procs):
    """Boot a guest, wait until its zoo is up, leave it running and return its fields."""
    kernel_folder = kernel.fetch(version)
    sweep()
    folder = Path(tempfile.mkdtemp(prefix=f"{version}-", dir=cache.room("demo")))
    folder.chmod(0o755)
    image = folder / "initramfs"
    initramfs.pack(image, kernel_folder)
    parameters = f"kw.mode=demo kw.busy={int(busy)} kw.procs={procs}"
    guest = machine.Machine(folder, kernel=kernel_folder, initramfs=image, memory=memory, smp=smp,
                            parameters=parameters, life=life)
    try:
        with cache.logs_kept(folder):
            return bring_up(guest, version, machine.BOOT_TIMEOUT + machine.seconds_for(procs))
    except BaseException:
        guest.end()
        shutil.rmtree(folder, ignore_errors=True)
        raise


def bring_up(guest, version, timeout):
    guest.start()
    control = guest.await_line("UP", timeout)
    fields = {"pid": guest.qemu_pid(), "ram": guest.ram, "version": version, "qmp": guest.socket_path,
              "folder": guest.folder}
    (guest.folder / "zoo.tsv").write_text(machine.zoo_table(control))
    (guest.folder / "meta").write_text("".join(f"{key}={value}\n" for key, value in fields.items()))
    guest.leave()
    return fields


def running():
    """List the fields of every demo guest that still runs."""
    demos = []
    for folder in sorted(cache.room("demo").iterdir()):
        if (folder / "meta").exists() and machine.runs_in(folder):
            demos.append(kernel.meta(folder))
    return demos


def stop(which):
    """End the demos that which names: a PID, a kernel version, or None for all. Returns how many."""
    chosen = [fields for fields in running() if which in (None, fields["pid"], fields["version"])]
    for fields in chosen:
        machine.kill_group(os.getpgid(int(fields["pid"])))
        remove(fields)
    sweep()
    return len(chosen)


def remove(fields):
    shutil.rmtree(fields["folder"], ignore_errors=True)
    shutil.rmtree(Path(fields["qmp"]).parent, ignore_errors=True)


def sweep():
    """Remove what ended demos left behind. One without meta may be starting just now."""
    for folder in cache.room("demo").iterdir():
        if (folder / "meta").exists() and not machine.runs_in(folder):
            remove(kernel.meta(folder))
