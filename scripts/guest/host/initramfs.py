"""Pack the initial file system of a guest: the lab's program, kernel modules, and files to run there."""

import lzma
import os
import re
import stat
import subprocess
import zlib
from pathlib import Path

from host import cache
from host.cache import LabError

HERE = Path(__file__).resolve().parent.parent
SOURCES = ("init.c", "zoo.c", "creatures.c", "record.c", "port.c")
HEADERS = ("lab.h", "zoo.h")
FOLDERS = ("bin", "dev", "etc", "lab", "lib", "proc", "root", "run", "sbin", "sys", "tmp", "usr", "usr/bin", "usr/lib")


class Archive:
    """A cpio archive in the "newc" format, written entry by entry; parents are added before their children."""

    def __init__(self, path):
        self.file = open(path, "wb")
        self.known = set()
        self.inode = 1

    def entry(self, name, mode, data=b"", device=(0, 0)):
        fields = (self.inode, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(name.encode()) + 1, 0)
        head = b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
        self.file.write(head + b"\0" * (-len(head) % 4) + data + b"\0" * (-len(data) % 4))
        self.inode += 1

    def folder(self, name, mode=0o755):
        parts = name.strip("/").split("/")
        for depth in range(1, len(parts) + 1):
            path = "/".join(parts[:depth])
            if path not in self.known:
                self.known.add(path)
                self.entry(path, stat.S_IFDIR | mode)

    def add(self, name, mode, data=b"", device=(0, 0)):
        name = name.strip("/")
        if name in self.known:
            return
        if "/" in name:
            self.folder(name.rsplit("/", 1)[0])
        self.known.add(name)
        self.entry(name, mode, data, device)

    def data(self, name, data, mode=0o644):
        self.add(name, stat.S_IFREG | mode, data)

    def link(self, name, target):
        self.add(name, stat.S_IFLNK | 0o777, target.encode())

    def host_file(self, name, path):
        self.data(name, Path(path).read_bytes(), stat.S_IMODE(os.stat(path).st_mode) | 0o400)

    def close(self):
        self.entry("TRAILER!!!", 0)
        self.file.close()


def compile_program(place):
    """Build the guest's program unless the cache has this very source; return its path."""
    digest = 0
    for name in (*SOURCES, *HEADERS):
        digest = zlib.crc32((HERE / name).read_bytes(), digest)
    program = cache.room("programs") / f"init-{digest:08x}"
    with cache.locked("program"):
        if not program.exists():
            command = [os.environ.get("CC", "gcc"), "-std=gnu11", "-D_GNU_SOURCE", "-O2", "-g", "-Wall", "-Wextra", "-Werror", "-static",
                       "-pthread", "-o", f"{program}.new", *(str(HERE / name) for name in SOURCES)]
            built = subprocess.run(command, check=False, capture_output=True, text=True)
            if built.returncode != 0:
                raise LabError(f"the guest's program does not build:\n{built.stderr}")
            os.replace(f"{program}.new", program)
    place.host_file("init", program)


def module_data(path):
    data = path.read_bytes()
    return lzma.decompress(data) if path.suffix == ".xz" else data


def module_depends(data):
    """Read what a module's own header says it needs (Debian's packages bring no modules.dep)."""
    found = re.search(rb"\0depends=([^\0]*)\0", data)
    return [name for name in found[1].decode().split(",") if name] if found else []


def add_modules(archive, kernel, names):
    """Add those of the named kernel modules that this kernel has, with all they need, in the order to load them.

    A name that is missing is built in, or not in this kernel at all.
    """
    files = {path.name.split(".")[0].replace("-", "_"): path for path in (kernel / "modules").rglob("*.ko*")}
    order = []

    def need(name):
        if name in order or name not in files:
            return
        data = module_data(files[name])
        for other in module_depends(data):
            need(other)
        order.append(name)
        archive.data(f"lab/{name}.ko", data)

    for name in names:
        need(name)
    archive.data("lab/modules", "".join(f"/lab/{name}.ko\n" for name in order).encode())


def shared_libraries(path):
    """List what ldd finds for a program: its libraries and the loader, by the paths it will look for."""
    listed = subprocess.run(["ldd", str(path)], check=False, capture_output=True, text=True)
    if listed.returncode != 0:
        return []  # static, or no ELF program at all
    if "not found" in listed.stdout:
        raise LabError(f"{path} lacks shared libraries:\n{listed.stdout}")
    return re.findall(r"(?:=> |^\s*)(/\S+) \(0x", listed.stdout, re.MULTILINE)


def add_program(archive, guest_path, host_path):
    archive.host_file(guest_path, host_path)
    for library in shared_libraries(host_path):
        archive.host_file(library, os.path.realpath(library))


def add_tree(archive, guest_path, host_path):
    """Add a file, or a folder with all that is in it."""
    if not host_path.is_dir():
        add_program(archive, guest_path, host_path)
        return
    archive.folder(guest_path)
    for inner in sorted(host_path.rglob("*")):
        name = f"{guest_path}/{inner.relative_to(host_path)}"
        if inner.is_dir():
            archive.folder(name)
        elif inner.is_file():
            add_program(archive, name, inner)


def add_busybox(archive):
    for path in ("/bin/busybox", "/usr/bin/busybox"):
        if os.path.exists(path) and not shared_libraries(path):
            archive.host_file("bin/busybox", path)
            applets = subprocess.run([path, "--list"], check=True, capture_output=True, text=True).stdout.split()
            for applet in applets:
                if applet != "busybox":
                    archive.link(f"bin/{applet}", "/bin/busybox")
            return


def pack(path, kernel, modules=("qemu_fw_cfg",), files=(), command=None):
    """Write the initramfs to path. files: (host path, guest path) pairs; command: the words of exec's command."""
    archive = Archive(path)
    for folder in FOLDERS:
        archive.folder(folder)
    archive.folder("tmp", 0o1777)
    archive.add("dev/console", stat.S_IFCHR | 0o600, device=(5, 1))
    archive.add("dev/null", stat.S_IFCHR | 0o666, device=(1, 3))
    archive.data("etc/passwd", b"root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000:user:/:/bin/sh\n")
    archive.data("etc/group", b"root:x:0:\nuser:x:1000:\n")
    compile_program(archive)
    add_modules(archive, kernel, modules)
    for host_path, guest_path in files:
        add_tree(archive, guest_path, Path(host_path))
    if command is not None:
        add_busybox(archive)
        archive.data("lab/command", b"".join(word.encode("utf-8", "surrogateescape") + b"\0" for word in command))
    archive.close()
