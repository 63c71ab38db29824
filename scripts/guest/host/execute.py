"""Run one command in a guest of its own, with its output and exit status as if it ran here."""

import shutil
import sys
import tempfile
import time
from pathlib import Path

from host import cache, initramfs, kernel, machine
from host.cache import LabError
MODULES = ("qemu_fw_cfg", "virtio_pci", "virtio_console")


class CommandTimedOut(LabError):
    """The command was still running when its time was over."""

    status = 124  # as timeout(1) has it


def parse_file(text):
    """Split HOSTPATH[:GUESTPATH]; without a guest path it is the host's absolute path."""
    host_path, _, guest_path = text.partition(":")
    if not Path(host_path).exists():
        raise LabError(f"--file {text}: {host_path} does not exist")
    return host_path, guest_path or str(Path(host_path).absolute())


def clean():
    """Remove what killed runs left behind."""
    for folder in cache.room("exec").iterdir():
        if not machine.runs_in(folder):
            shutil.rmtree(folder, ignore_errors=True)


def execute(version, command, *, files, timeout, memory, smp, busy, cpu, procs=0, parameters="", dimm=0):
    """Boot, run, pass on what the command writes; return its exit status."""
    kernel_folder = kernel.fetch(version)
    folder = Path(tempfile.mkdtemp(prefix=f"{version}-", dir=cache.room("exec")))
    try:
        image = folder / "initramfs"
        initramfs.pack(image, kernel_folder, modules=MODULES, files=[parse_file(text) for text in files],
                       command=command)
        with cache.logs_kept(folder), machine.Machine(
                folder, kernel=kernel_folder, initramfs=image, memory=memory, smp=smp, cpu=cpu,
                parameters=f"kw.mode=exec kw.busy={int(busy)} kw.procs={procs} {parameters}", with_output=True,
                dimm=dimm) as guest:
            return follow(guest, timeout + machine.seconds_for(procs))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def follow(guest, timeout):
    """Copy the guest's output to ours as it comes, until it tells the exit status."""
    deadline = time.monotonic() + timeout
    with open(guest.output, "rb") as output:
        while True:
            # Asked first, so that what was written before the end is read after it.
            alive, status = guest.alive(), guest.exit_status()
            pass_on(output)
            if status is not None:
                return status
            if not alive:
                raise guest.trouble("the guest ended before its command")
            if time.monotonic() > deadline:
                raise CommandTimedOut(str(guest.trouble(f"the command did not end within {timeout:g} s")))
            time.sleep(0.02)


def pass_on(output):
    while data := output.read(1 << 16):
        sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()
