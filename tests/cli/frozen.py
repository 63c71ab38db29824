"""A folder to run documented commands in, on a frozen guest: what manual.test and examples.test share.

In it the names that the documentation uses lead to the guest's files (guest.ram, vmcore, System.map), and `kwalk` is the
program under test. A command that names no target means the live kernel, which not every machine can read: it gets the
frozen guest instead. As qemu:PID stands in a process that shares the guest's RAM, as QEMU does.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
KWALK = pathlib.Path(os.environ.get("KWALK", ROOT / "build/kwalk")).resolve()
BUILD = KWALK.parent
IS_ASAN = os.environ.get("KWALK_BUILD") == "asan"

WRAPPER = """#!/bin/bash
for word; do
    case $word in
    -t | --target | --target=*) exec "{kwalk}" "$@" ;;
    esac
done
exec "{kwalk}" -t "{ram}" "$@"
"""

SHARE_RAM = """
import mmap, sys
file = open(sys.argv[1], "rb")
ram = mmap.mmap(file.fileno(), 0, mmap.MAP_SHARED, mmap.PROT_READ)
open("/proc/self/comm", "w").write("qemu-system-x86")
print("ready", flush=True)
sys.stdin.read()
"""


def freeze():
    """Make or find the frozen guest; returns its folder."""
    lab = subprocess.run([ROOT / "scripts/guest/lab", "freeze", "6.1", "--dumps"], stdout=subprocess.PIPE, check=True,
                         text=True)
    return pathlib.Path(lab.stdout.strip().splitlines()[-1])


class Frozen:
    """The folder, the guest behind it, and the process that shares its RAM. Ends with the `with` block."""

    def __init__(self):
        self.guest = freeze()
        self.temporary = tempfile.TemporaryDirectory(prefix="kwalk-cli-")
        self.folder = pathlib.Path(self.temporary.name)
        for name, file in (("guest.ram", "ram"), ("vmcore", "elf-virt.core"), ("System.map", "truth/kallsyms")):
            (self.folder / name).symlink_to(self.guest / file)
        wrapper = self.folder / "bin/kwalk"
        wrapper.parent.mkdir()
        wrapper.write_text(WRAPPER.format(kwalk=KWALK, ram=self.guest / "ram"))
        wrapper.chmod(0o755)
        self.environment = dict(os.environ, PATH=f"{wrapper.parent}:{os.environ['PATH']}", KWALK=str(wrapper),
                                LC_ALL="C.UTF-8")
        self.sharer = subprocess.Popen([sys.executable, "-c", SHARE_RAM, self.guest / "ram"], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE)
        self.sharer.stdout.readline()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.sharer.stdin.close()
        self.sharer.wait()
        self.temporary.cleanup()

    def run(self, command):
        """Run a line of shell, or a program with arguments, in the folder."""
        words = ["bash", "-o", "pipefail", "-c", command] if isinstance(command, str) else command
        return subprocess.run(words, cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
                              errors="surrogateescape", timeout=300)

    def compile(self, name, source):
        """Compile a C program as a user of the library would; returns the program, or raises with the messages."""
        file = self.folder / f"{name}.c"
        file.write_text(source)
        options = ["-fsanitize=address,undefined"] if IS_ASAN else []
        run = self.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", *options, f"-I{ROOT / 'include'}", "-o", name,
                        str(file), f"-L{BUILD / 'src'}", "-lkwalk", f"-Wl,-rpath,{BUILD / 'src'}"])
        if run.returncode:
            raise AssertionError(f"does not compile: {run.stderr}")
        return str(self.folder / name)


class Skip(Exception):
    """Raised by a case that can't be run here; the text is the reason."""


class Cases:
    """Runs cases, prints the protocol's line for each."""

    def __init__(self):
        self.failed = False

    def case(self, name, function, *arguments):
        try:
            function(*arguments)
            print(f"ok {name}", flush=True)
        except Skip as reason:
            print(f"skip {name} {reason}", flush=True)
        except Exception as error:  # one bad case must not hide the others
            self.failed = True
            print(f"not ok {name} {' / '.join(str(error).split(chr(10)))[:1000] or repr(error)}", flush=True)
