"""A guest under QEMU's own translator (TCG): no disk, no network, its RAM a file on the host.

The guest speaks through a debug console, here the file `control` (lines of text), and where it runs a command through
a virtio port, here the file `output`. It stops itself through the pvpanic device, so QMP only has to notice.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from host.cache import LabError

QEMU = "qemu-system-x86_64"
# A boot takes 3 to 8 s on an idle host. The limits are for one that ten other jobs share.
BOOT_TIMEOUT = 300
MONITOR_TIMEOUT = 60
# Forking and recording a process takes 8 ms on an idle host.
SECONDS_PER_PROCESS = 0.1
# Where QEMU's machine types end the RAM below 4 GiB: (from this RAM size on, the RAM below is this large).
SPLIT = {"pc": (0xE0000000, 0xC0000000), "q35": (0xB0000000, 0x80000000)}


def parse_size(text):
    found = re.fullmatch(r"(\d+)([KMGkmg]?)i?B?", str(text))
    if not found or int(found[1]) == 0:
        raise LabError(f"{text} is no size; write it like 1024M or 2G")
    return int(found[1]) << {"": 20, "K": 10, "M": 20, "G": 30}[found[2].upper()]


def low_memory(machine, ram_size):
    """How much of RAM lies below 4 GiB; the rest of the file is at physical 4 GiB."""
    limit, low = SPLIT[machine]
    return low if ram_size >= limit else ram_size


def seconds_for(procs):
    """How long to wait, beyond the boot, for so many processes to be forked and recorded."""
    return procs * SECONDS_PER_PROCESS


def zoo_table(control):
    """Turn the control file's lines about the zoo into the text of zoo.tsv: name, PID, TID."""
    lines = [line.removeprefix("ZOO\t") for line in control.splitlines() if line.startswith("ZOO\t")]
    return "".join(line + "\n" for line in lines)


def hardware(memory, smp, machine, cpu):
    """QEMU's options for all that the guest sees of its machine."""
    return [
        "-nodefaults", "-display", "none", "-no-reboot", "-accel", "tcg", "-cpu", cpu, "-smp", str(smp),
        "-machine", f"{machine},memory-backend=ram", "-m", f"{memory >> 20}M", "-serial", "chardev:console",
        "-device", "isa-debugcon,iobase=0xe9,chardev=control", "-action", "panic=pause", "-device", "pvpanic",
        "-device", "vmcoreinfo",
    ]


def memory_module(memory, size):
    """QEMU's options for a memory module beside the RAM on the board; the later -m counts."""
    return ["-m", f"{memory >> 20}M,slots=1,maxmem={(memory + size) >> 20}M",
            "-object", f"memory-backend-ram,id=dimm,size={size}", "-device", "pc-dimm,memdev=dimm"]


def kernel_parameters(more):
    return f"console=ttyS0 panic=-1 loglevel=5 oops=panic {more}".strip()


class Machine:
    """One QEMU process and its files in one folder. Use it in a `with`: leaving the block ends QEMU."""

    def __init__(self, folder, *, kernel, initramfs, memory, smp=2, machine="pc", cpu="qemu64", parameters="",
                 life=None, with_output=False, dimm=0):
        self.folder = Path(folder)
        self.ram = self.folder / "ram"
        self.console = self.folder / "console.log"
        self.control = self.folder / "control"
        self.output = self.folder / "output"
        self.process = self.qmp = None
        # A Unix socket's path must be short, wherever the cache is.
        self.socket_folder = tempfile.mkdtemp(prefix="kwlab.")
        self.socket_path = f"{self.socket_folder}/qmp"
        # A guest that is to outlive us has a limited life; any other dies with us, however we die.
        leash = ["timeout", "--signal=KILL", str(life)] if life else ["setpriv", "--pdeathsig", "KILL"]
        self.command = [*leash, QEMU, *hardware(memory, smp, machine, cpu), *self.files(kernel, initramfs, memory),
                        "-append", kernel_parameters(parameters)]
        if dimm:
            self.command += memory_module(memory, dimm)
        if with_output:
            self.command += ["-chardev", f"file,id=output,path={self.output}", "-device", "virtio-serial-pci",
                             "-device", "virtserialport,chardev=output,name=kwalk.output"]

    def files(self, kernel, initramfs, memory):
        return [
            "-object", f"memory-backend-file,id=ram,share=on,mem-path={self.ram},size={memory}",
            "-kernel", str(kernel / "vmlinuz"), "-initrd", str(initramfs),
            "-chardev", f"file,id=console,path={self.console}", "-chardev", f"file,id=control,path={self.control}",
            "-qmp", f"unix:{self.socket_path},server=on,wait=off", "-pidfile", str(self.folder / "qemu.pid"),
        ]

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(self, *_):
        self.end()

    def start(self):
        if shutil.which(QEMU) is None:
            raise LabError(f"{QEMU} is not installed (Debian's package: qemu-system-x86)")
        errors = open(self.folder / "qemu.log", "wb")
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors,
                                        start_new_session=True)
        errors.close()
        self.qmp = Monitor(self.socket_path, self.alive, self.trouble)

    def alive(self):
        return self.process.poll() is None

    def qemu_pid(self):
        """QEMU's own PID, which is not its leash's."""
        return int((self.folder / "qemu.pid").read_text())

    def exit_status(self):
        """The exit status that the guest told for its command, or None so far."""
        told = re.search(r"(?m)^EXIT (\d+)\n", self.control_text())
        return int(told[1]) if told else None

    def leave(self):
        """Let QEMU run on; its QMP socket stays for whoever comes next."""
        self.qmp.close()
        self.qmp = None

    def trouble(self, what):
        """Make the error that says what went wrong and where to look."""
        said = self.control_text().splitlines()
        complaint = [line for line in said if line.startswith("ERROR")]
        log = self.folder / "qemu.log"
        qemu = log.read_text(errors="replace").strip() if log.exists() else ""
        detail = "; ".join(part for part in (*complaint, qemu) if part)
        return LabError(f"{what}{': ' + detail if detail else ''} (the guest's console: {self.console})")

    def control_text(self):
        return self.control.read_text(errors="replace") if self.control.exists() else ""

    def await_line(self, word, timeout):
        """Wait until the guest has sent a control line that starts with word; return the whole text so far."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            alive = self.alive()
            text = self.control_text()
            if re.search(rf"(?m)^{word}\b.*\n", text):
                return text
            if not alive:
                raise self.trouble("the guest ended before its time")
            time.sleep(0.02)
        raise self.trouble(f"the guest did not get ready within {timeout} s")

    def end(self):
        if self.qmp:
            self.qmp.close()
            self.qmp = None
        if self.process and self.alive():
            kill_group(self.process.pid)
        if self.process:
            self.process.wait()
        shutil.rmtree(self.socket_folder, ignore_errors=True)


def runs_in(folder):
    """Tell whether the QEMU whose files are in folder still runs, and no other process has got its PID."""
    try:
        pid = int((folder / "qemu.pid").read_text())
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except (OSError, ValueError):
        return False
    return f"{folder}/".encode() in command


def kill_group(pid):
    """End a QEMU that the lab started as the leader of a session of its own."""
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Monitor:
    """QEMU's machine protocol: JSON lines over a Unix socket."""

    def __init__(self, path, alive, trouble):
        self.trouble = trouble
        self.socket = self.connect(path, alive)
        self.pending = b""
        self.events = []
        self.receive(MONITOR_TIMEOUT)  # the greeting
        self.call("qmp_capabilities")

    def connect(self, path, alive):
        deadline = time.monotonic() + MONITOR_TIMEOUT
        while time.monotonic() < deadline:
            endpoint = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                endpoint.connect(path)
                return endpoint
            except OSError:
                endpoint.close()
                if not alive():
                    raise self.trouble("QEMU did not start") from None
                time.sleep(0.02)
        raise self.trouble(f"QEMU did not open its monitor within {MONITOR_TIMEOUT} s")

    def receive(self, timeout, awaited="QEMU did not answer"):
        deadline = time.monotonic() + timeout
        while b"\n" not in self.pending:
            self.socket.settimeout(max(0.01, deadline - time.monotonic()))
            try:
                data = self.socket.recv(65536)
            except socket.timeout:
                raise self.trouble(f"{awaited} in time") from None
            except OSError:
                data = b""
            if not data:
                raise self.trouble("QEMU went away")
            self.pending += data
        line, self.pending = self.pending.split(b"\n", 1)
        return json.loads(line)

    def call(self, command, timeout=MONITOR_TIMEOUT, **arguments):
        self.socket.sendall(json.dumps({"execute": command, "arguments": arguments}).encode() + b"\n")
        while True:
            answer = self.receive(timeout, f"QEMU did not answer {command}")
            if "event" in answer:
                self.events.append(answer["event"])
            elif "error" in answer:
                raise self.trouble(f"QEMU refused {command}: {answer['error'].get('desc')}")
            elif "return" in answer:
                return answer["return"]

    def await_event(self, name, timeout):
        deadline = time.monotonic() + timeout
        while name not in self.events:
            answer = self.receive(max(0, deadline - time.monotonic()), f"{name} did not come from QEMU")
            if "event" in answer:
                self.events.append(answer["event"])
        self.events.remove(name)

    def close(self):
        self.socket.close()
