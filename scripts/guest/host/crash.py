"""Crash a guest, and run a command in the capture kernel that kexec starts then, which finds the dead one's memory in /proc/vmcore.

The same kernel serves as both. The second has an initial file system of its own, small, for it has only the memory that
was set aside: capture/init.sh as PID 1, the files that were asked for, and the driver of the port for output.
"""

import os
import shlex
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path

from host import cache, execute, initramfs, kernel, tool
from host.cache import LabError

RESERVED = "192M"
HERE = initramfs.HERE / "capture"
FOLDERS = ("bin", "dev", "lab", "proc", "root", "sys", "tmp")
MODULES = ("virtio_pci", "virtio_console")


def compile_tell(place):
    command = [os.environ.get("CC", "gcc"), "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-static", "-o", str(place),
               str(HERE / "tell.c")]
    built = subprocess.run(command, check=False, capture_output=True, text=True)
    if built.returncode != 0:
        raise LabError(f"a capture kernel's program does not build:\n{built.stderr}")


def pack_capture(folder, kernel_folder, files, command):
    compile_tell(folder / "tell")
    archive = initramfs.Archive(folder / "capture")
    for name in FOLDERS:
        archive.folder(name)
    archive.add("dev/console", stat.S_IFCHR | 0o600, device=(5, 1))
    archive.add("dev/null", stat.S_IFCHR | 0o666, device=(1, 3))
    initramfs.add_modules(archive, kernel_folder, MODULES)
    initramfs.add_busybox(archive)
    for host_path, guest_path in files:
        initramfs.add_tree(archive, guest_path, Path(host_path))
    archive.data("lab/command", f"{shlex.join(command)}\n".encode("utf-8", "surrogateescape"))
    archive.host_file("lab/tell", folder / "tell")
    archive.host_file("init", HERE / "init.sh")
    archive.close()


def crash(version, command, *, files, first, kexec_options, timeout, memory, smp):
    """Boot, run the program `first`, crash, run the command in the capture kernel; return its exit status.

    What both write is passed on.
    """
    kernel_folder = kernel.fetch(version)
    kexec, libraries = tool.find("kexec-tools", "kexec")
    pairs = [execute.parse_file(text) for text in files]
    folder = Path(tempfile.mkdtemp(prefix=f"{version}-crash-", dir=cache.room("exec")))
    try:
        pack_capture(folder, kernel_folder, pairs, command)
        # The programs that are packed are asked for their libraries by ldd.
        os.environ["LD_LIBRARY_PATH"] = libraries
        brought = [f"{kexec}:/lab/kexec", f"{kernel_folder / 'vmlinuz'}:/lab/vmlinuz",
                   f"{folder / 'capture'}:/lab/capture", f"{HERE / 'crash.sh'}:/lab/crash"]
        return execute.execute(version, ["/lab/crash", libraries, kexec_options, first], files=[*files, *brought],
                               timeout=timeout, memory=memory, smp=smp, busy=False, cpu="qemu64",
                               parameters=f"crashkernel={RESERVED}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
