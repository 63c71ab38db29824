"""Build src/kmod for a kernel of the lab, with that kernel's own headers, without installing anything.

Debian splits a kernel's headers into linux-headers-RELEASE, linux-headers-...-common and linux-kbuild-..., which name each
other by absolute paths below /usr/src. Here they lie in the cache, so those paths are rewritten.
"""

import os
import re
import shutil
import zlib
from pathlib import Path

from host import cache, kernel
from host.cache import LabError

SOURCES = Path(__file__).resolve().parents[3] / "src" / "kmod"
INPUTS = ("Kbuild", "Makefile", "kwalk.c")


class DoesNotBuild(LabError):
    """There was all that is needed to build it, and yet."""

    status = 5


def header_packages(env, meta):
    """List (name, version) of the packages that together are a kernel's headers."""
    name, version = meta["PACKAGE"].replace("linux-image", "linux-headers"), meta["PACKAGE_VERSION"]
    stanza = next((s for s in kernel.stanzas(env, name) if s["Version"] == version), None)
    if not stanza:
        raise LabError(f"no mirror has {name} {version}: fetch the kernel anew with lab kernel {meta['KERNEL']} --refresh")
    return [(name, version)] + [(part, version) for part in
                                re.findall(r"linux-(?:headers-[0-9][^ ,(]*-common|kbuild-[0-9][^ ,(]*)", stanza["Depends"])]


def relocate(tree, place):
    """Let the headers find each other below place instead of the root folder."""
    for makefile in (tree / "usr/src").glob("linux-headers-*/Makefile"):
        text = makefile.read_text()
        makefile.write_text(re.sub(r"(?m)(?<![\w.])/usr/(src|lib)/linux-", rf"{place}/tree/usr/\1/linux-", text))


def fetch_headers(meta):
    """Return the folder to build modules in for the kernel that meta describes."""
    release = meta["RELEASE"]
    place = cache.room("headers") / f"{release}_{meta['PACKAGE_VERSION'].replace('/', '_')}"
    with cache.locked(f"headers-{release}"):
        if not place.is_dir():
            with cache.building(place) as work:
                with cache.locked("apt"):
                    env = kernel.apt_environment(False)
                    kernel.unpack(env, header_packages(env, meta), work)
                relocate(work / "tree", place)
    return place / "tree" / "usr" / "src" / f"linux-headers-{release}"


def check_tools(headers):
    """Kernel headers bring programs that may need a newer C library than this machine's."""
    for tool in (headers / "scripts/basic/fixdep", headers / "tools/objtool/objtool"):
        if not tool.exists():
            continue
        run = kernel.run([str(tool)])
        if "GLIBC" in run.stderr:
            raise LabError(f"the programs in {headers} do not run here: {run.stderr.strip().splitlines()[0]}")


def build(headers, work):
    for name in INPUTS:
        shutil.copy(SOURCES / name, work / name)
    done = kernel.run(["make", "-C", str(work), f"KDIR={headers}", f"CC={os.environ.get('CC', 'gcc')}"])
    if done.returncode != 0:
        raise DoesNotBuild(f"kwalk.ko does not build with {headers}:\n{done.stdout}{done.stderr}")
    kernel.run(["strip", "--strip-debug", str(work / "kwalk.ko")])


def fetch(version):
    """Return the path of kwalk.ko for the lab's kernel of this version, building it unless the cache has it."""
    meta = kernel.meta(kernel.fetch(version))
    digest = zlib.crc32(meta["PACKAGE_VERSION"].encode())
    for name in INPUTS:
        digest = zlib.crc32((SOURCES / name).read_bytes(), digest)
    place = cache.room("modules") / f"{meta['RELEASE']}-{digest:08x}"
    headers = fetch_headers(meta)
    with cache.locked(f"module-{version}"):
        if not place.is_dir():
            check_tools(headers)
            with cache.building(place) as work:
                build(headers, work)
    return place / "kwalk.ko"
