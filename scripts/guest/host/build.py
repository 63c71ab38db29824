"""Build a kernel of our own from Debian's sources, where none that is packaged will do: one with our patch to /proc/kcore.

A recipe is a Debian source package, a patch and a configuration that names all that is not off. The result is kept under a
name that holds the digest of patch and configuration; the build tree, a few gigabytes, is not kept.
"""

import hashlib
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from host import cache, kernel
from host.cache import LabError

TOP = Path(__file__).resolve().parents[3]
TOOLS = {"bc": "bc", "bison": "bison", "flex": "flex", "gcc": "gcc", "make": "make", "pahole": "dwarves", "patch": "patch",
         "tar": "tar", "xz": "xz-utils"}
# Twelve minutes on two idle cores.
BUILD_TIMEOUT = 4 * 3600


@dataclass(frozen=True)
class Recipe:
    """What a kernel is built from."""

    package: str
    patch: Path
    config: Path


RECIPES = {
    "6.1-mmap": Recipe("linux-source-6.1", TOP / "src/kmod/kcore-mmap-6.1.patch",
                       TOP / "scripts/guest/kernel/6.1-mmap.config"),
}


def digest_of(recipe):
    digest = hashlib.sha256()
    for path in (recipe.patch, recipe.config):
        digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


def place_of(version):
    return cache.room("kernels") / f"{version}-{digest_of(RECIPES[version])}"


def is_built(version):
    return (place_of(version) / "meta").exists()


def fetch(version, fresh=False):
    """Return the folder of this kernel, building it first if the cache has none."""
    place = place_of(version)
    with cache.locked(f"kernel-{version}"):
        if fresh or not is_built(version):
            check_tools()
            with cache.building(place) as work:
                build(version, work)
    return place


def check_tools():
    missing = [package for tool, package in TOOLS.items() if shutil.which(tool) is None]
    if not Path("/usr/include/gelf.h").exists():
        missing.append("libelf-dev")
    if missing:
        raise LabError(f"to build a kernel, install {' '.join(missing)}: scripts/setup kernel")


def build(version, work):
    recipe = RECIPES[version]
    package_version = unpack(recipe, work)
    source, tree = work / recipe.package, work / "tree"
    tree.mkdir()
    step(["patch", "-p1", "--batch", "--forward", "--input", str(recipe.patch)], source,
         f"{recipe.patch.name} does not apply to {recipe.package} {package_version}")
    configure(recipe, source, tree)
    make(version, source, tree)
    lay_out(version, package_version, tree, work)
    shutil.rmtree(source)
    shutil.rmtree(tree)


def unpack(recipe, work):
    """Bring the newest source package and unpack it below work; return its version."""
    with cache.locked("apt"):
        env = kernel.apt_environment(False)
        found = kernel.newest(kernel.stanzas(env, recipe.package))
        if not found:
            raise LabError(f"no mirror has {recipe.package}")
        package = kernel.download(env, recipe.package, found["Version"], work)
    archive = f"usr/src/{recipe.package}.tar.xz"
    step(["dpkg", "-x", str(package), str(work / "package")], work, f"cannot unpack {package.name}")
    step(["tar", "-xJf", str(work / "package" / archive)], work, f"cannot unpack {archive}")
    shutil.rmtree(work / "package")
    package.unlink()
    return found["Version"]


def step(command, folder, complaint, env=None):
    done = subprocess.run(command, cwd=folder, check=False, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=BUILD_TIMEOUT, env=env)
    if done.returncode != 0:
        raise LabError(f"{complaint}:\n{done.stdout[-2000:].strip()}")


def configure(recipe, source, tree):
    """Configure the tree; a setting that did not stay as it was asked for is an error, not a surprise in a test."""
    step(["make", f"O={tree}", "allnoconfig"], source, f"cannot configure with {recipe.config.name}",
         dict(os.environ, KCONFIG_ALLCONFIG=str(recipe.config)))
    wanted = [line for line in recipe.config.read_text().splitlines() if line.startswith("CONFIG_")]
    got = set((tree / ".config").read_text().splitlines())
    lost = [line for line in wanted if line not in got]
    if lost:
        raise LabError(f"{recipe.config.name}: the kernel's configuration drops {', '.join(lost)}")


def make(version, source, tree):
    log = cache.room("failed") / f"{version}.build.log"
    jobs = len(os.sched_getaffinity(0))
    # The same sources shall give the same kernel.
    env = dict(os.environ, KBUILD_BUILD_USER="kwalk", KBUILD_BUILD_HOST="lab")
    with open(log, "wb") as file:
        done = subprocess.run(["nice", "-n", "10", "make", f"O={tree}", f"-j{jobs}", "bzImage"], cwd=source, check=False,
                              stdout=file, stderr=file, stdin=subprocess.DEVNULL, timeout=BUILD_TIMEOUT, env=env)
    if done.returncode != 0:
        raise LabError(f"the kernel {version} does not build; the compiler's messages: {log}")
    log.unlink()


def lay_out(version, package_version, tree, work):
    recipe = RECIPES[version]
    shutil.move(tree / "arch/x86/boot/bzImage", work / "vmlinuz")
    shutil.move(tree / "System.map", work / "System.map")
    shutil.copy(tree / ".config", work / "config")
    (work / "modules").mkdir()
    release = (tree / "include/config/kernel.release").read_text().strip()
    (work / "meta").write_text(f"KERNEL={version}\nRELEASE={release}\nPACKAGE={recipe.package}\n"
                               f"PACKAGE_VERSION={package_version}+{digest_of(recipe)}\n")
