"""Programs that guests need and this machine may not have installed: Debian packages, unpacked in the cache.

They come from this machine's own suite, with those libraries that are missing here, so that they run with the others.
"""

import shutil
from pathlib import Path

from host import cache, kernel
from host.cache import LabError

FOLDERS = "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin"


def download(package, work):
    """Bring a package, and what it needs that is not installed here, into a folder."""
    (work / "partial").mkdir(parents=True)
    got = kernel.run(["apt-get", "-q", "-y", "--download-only", "--no-install-recommends",
                      "-o", f"Dir::Cache::archives={work}", "-o", "APT::Sandbox::User=root", "install", package])
    files = list(work.glob("*.deb"))
    if got.returncode != 0 or not files:
        raise LabError(f"cannot download {package}:\n{got.stderr.strip()}")
    return files


def fetch(package):
    """Return the folder into which a package is unpacked with what it needs."""
    place = cache.room("tools") / package
    with cache.locked(f"tool-{package}"):
        if not place.is_dir():
            with cache.building(place) as work:
                for file in download(package, work / "archives"):
                    done = kernel.run(["dpkg", "-x", str(file), str(work)])
                    if done.returncode != 0:
                        raise LabError(f"cannot unpack {file.name}:\n{done.stderr.strip()}")
                shutil.rmtree(work / "archives")
    return place


def find(package, program):
    """Return the path of a package's program, and the folders with libraries that only it needs, for LD_LIBRARY_PATH."""
    installed = shutil.which(program, path=FOLDERS)
    if installed:
        return Path(installed), ""
    place = fetch(package)
    found = shutil.which(program, path=":".join(f"{place}{folder}" for folder in FOLDERS.split(":")))
    if not found:
        raise LabError(f"{package} has no program {program}: look into {place}")
    return Path(found), ":".join(sorted({str(path.parent) for path in place.rglob("*.so*")}))
