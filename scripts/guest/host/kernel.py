"""Fetch Debian's cloud kernels with an apt configuration of the lab's own, so the machine's apt is not touched.

The metapackage linux-image-cloud-amd64 exists once per suite, with the kernel's version as its own. Its
dependency names the image package; up to 6.12 that holds everything, from 7.x on it in turn depends on a
linux-binary package (vmlinuz) and a linux-modules package.
"""

import functools
import glob
import os
import re
import shutil
import subprocess

from host import cache
from host.cache import LabError

VERSIONS = ("5.10", "6.1", "6.12", "7.2", "7.3")
# Built here instead of fetched: see build.py.
BUILT = ("6.1-mmap",)

# The suite that carries each version as its newest kernel, tried in this order.
SUITES = ("bookworm", "bullseye", "trixie", "trixie-backports", "sid")
SECURITY_SUITES = ("bookworm-security", "bullseye-security", "trixie-security")
META = "linux-image-cloud-amd64"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
FETCH_TIMEOUT = 600


def machine_uris():
    """List the (URI, is_security) pairs of the machine's own Debian sources, in both of apt's formats."""
    uris = []
    for path in ["/etc/apt/sources.list", *sorted(glob.glob("/etc/apt/sources.list.d/*"))]:
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                text = file.read()
        except OSError:
            continue
        if path.endswith(".sources"):
            uris += deb822_uris(text)
        else:
            uris += one_line_uris(text)
    return [pair for pair in dict.fromkeys(uris) if is_debian(pair[0])]


def deb822_uris(text):
    pairs = []
    for stanza in re.split(r"\n\s*\n", re.sub(r"(?m)^#.*\n", "", text)):
        fields = {k.lower(): v for k, v in re.findall(r"(?m)^([A-Za-z-]+):\s*(.*(?:\n[ \t]+.*)*)", stanza)}
        if fields.get("enabled", "yes").strip().lower() == "no":
            continue
        secure = "-security" in fields.get("suites", "")
        pairs += [(uri.rstrip("/"), secure) for uri in fields.get("uris", "").split()]
    return pairs


def one_line_uris(text):
    pairs = []
    for line in text.splitlines():
        found = re.match(r"\s*deb\s+(?:\[[^\]]*\]\s+)?(\S+)\s+(\S+)", line)
        if found:
            pairs.append((found[1].rstrip("/"), "-security" in found[2]))
    return pairs


def is_debian(uri):
    return re.search(r"/debian(-security)?(/|$)", uri) is not None


def mirrors():
    """Give the (main archive, security archive) candidates, best first.

    A snapshot's URI ends in a date; later suites may not exist in it, so the same host's plain archive follows.
    """
    named = os.environ.get("KWALK_DEBIAN_MIRROR")
    if named:
        main = named.rstrip("/")
        return [(main, re.sub(r"/debian$", "/debian-security", main))]
    found = machine_uris()
    main = [uri for uri, secure in found if not secure and not re.search(r"/debian-security(/|$)", uri)]
    if not main:
        raise LabError("no Debian archive in this machine's apt sources; set KWALK_DEBIAN_MIRROR to one")
    pairs = []
    for uri in main:
        plain = re.sub(r"/archive/debian/\d{8}T\d{6}Z$", "/debian", uri)
        for candidate in dict.fromkeys([uri, plain]):
            pairs.append((candidate, re.sub(r"/debian(?=/|$)", "/debian-security", candidate)))
    return list(dict.fromkeys(pairs))


def source_lines():
    signed = f"[signed-by={KEYRING}] " if os.path.exists(KEYRING) else ""
    lines = []
    for main, security in mirrors():
        lines += [f"deb {signed}{main} {suite} main" for suite in SUITES]
        lines += [f"deb {signed}{security} {suite} main" for suite in SECURITY_SUITES]
    return lines


def run(command, **options):
    try:
        return subprocess.run(command, check=False, capture_output=True, text=True, timeout=FETCH_TIMEOUT, **options)
    except subprocess.TimeoutExpired:
        raise LabError(f"{command[0]} took longer than {FETCH_TIMEOUT} s: {' '.join(command)}") from None


def refresh(conf, lists):
    """Update the private lists. A suite that this mirror lacks is only a warning: another may have the kernel."""
    env = dict(os.environ, APT_CONFIG=str(conf), LC_ALL="C")
    result = run(["apt-get", "-q", "update"], env=env)
    if not any(lists.glob("*_Packages*")):
        raise LabError(f"apt-get update brought no package lists:\n{result.stderr.strip()}")


def apt_environment(fresh):
    """Lay out the private apt and return the environment that selects it; fresh asks for new lists."""
    home = cache.room("apt")
    lists, archives = home / "lists", home / "cache" / "archives"
    for folder in (lists / "partial", archives / "partial"):
        folder.mkdir(parents=True, exist_ok=True)
    wanted = "\n".join(source_lines()) + "\n"
    sources = home / "sources.list"
    changed = not sources.exists() or sources.read_text() != wanted
    sources.write_text(wanted)
    conf = home / "apt.conf"
    conf.write_text(
        f'Dir::State::Lists "{lists}";\nDir::Cache "{home / "cache"}";\n'
        f'Dir::Etc::SourceList "{sources}";\nDir::Etc::SourceParts "/dev/null";\n'
        'Dir::Etc::Preferences "/dev/null";\nDir::Etc::PreferencesParts "/dev/null";\n'
        'APT::Architecture "amd64";\nAPT::Architectures { "amd64"; };\n'
        'Acquire::Languages "none";\nAPT::Sandbox::User "root";\nAcquire::Retries "2";\n'
        # A suite that gets no more updates keeps its last Release file for ever.
        'Acquire::Check-Valid-Until "false";\n'
    )
    if fresh or changed or not any(lists.glob("*_Packages*")):
        refresh(conf, lists)
    return dict(os.environ, APT_CONFIG=str(conf), LC_ALL="C")


def stanzas(env, package):
    """Yield a {field: value} for every version of package that the private lists know."""
    text = run(["apt-cache", "show", package], env=env).stdout
    for block in text.split("\n\n"):
        fields = dict(re.findall(r"(?m)^([A-Za-z-]+): (.*)$", block))
        if fields.get("Package") == package:
            yield fields


def compare_versions(a, b):
    for operator, answer in (("lt", -1), ("gt", 1)):
        if subprocess.run(["dpkg", "--compare-versions", a, operator, b], check=False).returncode == 0:
            return answer
    return 0


def newest(found):
    ordered = sorted(found, key=functools.cmp_to_key(lambda a, b: compare_versions(a["Version"], b["Version"])))
    return ordered[-1] if ordered else None


def image_package(env, version):
    """Find (package name, package version) of the newest image of this kernel version, or None."""
    prefix = version + "."
    meta = newest(s for s in stanzas(env, META) if s["Version"].startswith(prefix))
    if meta:
        name = re.search(r"linux-image-[0-9][^ ,]*", meta["Depends"])[0]
        return name, meta["Version"]
    # The suite has moved on to a newer series: an older image may still be in the archive by its own name.
    pattern = f"^linux-image-{re.escape(version)}[.-].*-cloud-amd64$"
    names = run(["apt-cache", "search", "--names-only", pattern], env=env).stdout
    images = [s for line in names.splitlines() for s in stanzas(env, line.split()[0])
              if s["Version"].startswith(prefix)]
    best = newest(images)
    return (best["Package"], best["Version"]) if best else None


def packages_of(env, name, version):
    """List the packages that together make the kernel: the image and, where it is split, binary and modules."""
    chosen = [(name, version)]
    image = next((s for s in stanzas(env, name) if s["Version"] == version), {})
    depends = image.get("Depends", "") + "," + image.get("Pre-Depends", "")
    for part in re.split(r"[,|]", depends):
        found = re.match(r"\s*(linux-(?:binary|modules)-[0-9][^ (]*)(?:\s*\(= ([^)]+)\))?", part)
        if found:
            chosen.append((found[1], found[2] or version))
    return list(dict.fromkeys(chosen))


def download(env, name, version, work):
    """Bring one package into the folder work and return its path."""
    got = run(["apt-get", "-q", "download", f"{name}={version}"], env=env, cwd=work)
    files = list(work.glob(f"{name}_*.deb"))
    if got.returncode != 0 or not files:
        raise LabError(f"cannot download {name} {version}:\n{got.stderr.strip()}")
    return files[0]


def unpack(env, packages, work):
    for name, version in packages:
        file = download(env, name, version, work)
        done = run(["dpkg", "-x", str(file), str(work / "tree")])
        if done.returncode != 0:
            raise LabError(f"cannot unpack {file.name}:\n{done.stderr.strip()}")
        file.unlink()


def lay_out(work, version, package, package_version):
    """Turn an unpacked tree into a kernel folder: vmlinuz, modules, System.map and config if any, release, meta."""
    tree = work / "tree"
    images = sorted(tree.glob("boot/vmlinuz-*")) + sorted(tree.glob("usr/lib/modules/*/vmlinuz"))
    modules = sorted(tree.glob("lib/modules/*")) + sorted(tree.glob("usr/lib/modules/*"))
    if not images or not modules:
        raise LabError(f"{package} {package_version} holds no vmlinuz or no modules")
    shutil.move(images[0], work / "vmlinuz")
    release = modules[0].name
    shutil.move(modules[0], work / "modules")
    for name in ("System.map", "config"):
        for path in sorted(tree.glob(f"boot/{name}-*")) + sorted(tree.glob(f"usr/lib/modules/*/{name}")):
            shutil.move(path, work / name)
            break
    system_map = work / "System.map"
    if system_map.exists() and system_map.stat().st_size < 4096:
        system_map.unlink()  # Debian leaves a note here and ships the real one with the debug symbols
    shutil.rmtree(tree)
    (work / "meta").write_text(
        f"KERNEL={version}\nRELEASE={release}\nPACKAGE={package}\nPACKAGE_VERSION={package_version}\n")


def fetch(version, fresh=False):
    """Return the folder of this kernel version, fetching or building it first if it is not in the cache."""
    if version in BUILT:
        return builder().fetch(version, fresh)
    if version not in VERSIONS:
        raise LabError(f"unknown kernel version {version}; the lab knows {' '.join(VERSIONS + BUILT)}")
    place = cache.room("kernels") / version
    with cache.locked(f"kernel-{version}"):
        if place.is_dir() and not fresh:
            return place
        with cache.locked("apt"):
            env = apt_environment(fresh)
            found = image_package(env, version)
            if not found and not fresh:
                env = apt_environment(True)
                found = image_package(env, version)
            if not found:
                raise LabError(f"no mirror in {cache.room('apt') / 'sources.list'} has a cloud kernel {version}")
            name, package_version = found
            with cache.building(place) as work:
                unpack(env, packages_of(env, name, package_version), work)
                lay_out(work, version, name, package_version)
    return place


def cached(version):
    """Return the folder of this kernel version if it is in the cache, else None."""
    place = builder().place_of(version) if version in BUILT else cache.room("kernels") / version
    return place if (place / "meta").exists() else None


def builder():
    from host import build  # late: it needs this file's ways to the mirror

    return build


def meta(folder):
    """Read a folder's KEY=VALUE file into a dict."""
    lines = (folder / "meta").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)
