"""Fetch the debug symbols of a kernel in the cache: the vmlinux with DWARF that drgn and crash need and kwalk does not.

Debian packs it as linux-image-RELEASE-dbg, at the image's own version. Of the whole are kept vmlinux and some of the modules, beside
it in kernel/: the one that guests of the lab load, and others to compare types of.
"""

import shutil
import subprocess

from host import cache, kernel
from host.cache import LabError

VMLINUX = "./usr/lib/debug/*vmlinux*"
MODULES = ("qemu_fw_cfg", "virtio_*", "xfs", "nfs*", "kvm*")


def extract(package, work):
    """Take vmlinux, the one file of that name that is not a link, and the modules out of a package."""
    patterns = [VMLINUX, *(f"./usr/lib/debug/*/{name}.ko" for name in MODULES)]
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", str(package)], stdout=subprocess.PIPE) as opened:
        taken = subprocess.run(["tar", "-x", "--wildcards", "-C", str(work), *patterns], check=False, text=True,
                               stdin=opened.stdout, capture_output=True)
        opened.stdout.close()
    found = [path for path in (work / "usr").rglob("vmlinux*") if path.is_file() and not path.is_symlink()]
    if taken.returncode != 0 or opened.returncode != 0 or len(found) != 1:
        raise LabError(f"{package.name}: cannot take vmlinux out of it:\n{taken.stderr.strip()}")
    found[0].rename(work / "vmlinux")
    modules = next((work / "usr").rglob("kernel"), None)
    if modules is None:
        raise LabError(f"{package.name}: has no modules")
    modules.rename(work / "kernel")
    shutil.rmtree(work / "usr")


def fetch(version):
    """Return the path of the vmlinux with debug symbols of the lab's kernel of this version."""
    meta = kernel.meta(kernel.fetch(version))
    package, package_version = meta["PACKAGE"] + "-dbg", meta["PACKAGE_VERSION"]
    place = cache.room("debug") / f"{meta['RELEASE']}_{package_version.replace('/', '_')}"
    with cache.locked(f"debug-{version}"):
        if not (place / "vmlinux").exists() or not (place / "kernel").is_dir():
            with cache.building(place) as work:
                with cache.locked("apt"):
                    file = kernel.download(kernel.apt_environment(False), package, package_version, work)
                extract(file, work)
                file.unlink()
    return place / "vmlinux"
