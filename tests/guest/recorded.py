"""What tests know of a frozen guest whose /proc was recorded just before the freeze: its files, and what may move between."""
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
KWALK = os.environ.get("KWALK", str(ROOT / "build/kwalk"))
KERNELS = os.environ.get("KERNELS", "6.1").split()

# Fields that move while their task runs, by what kind of task it is: not compared for the tasks that run between the
# recording and the freeze.
RUNNING = {"state", "stat", "wchan", "proc_wchan", "esp", "eip", "psr", "utime", "stime", "time", "exec_runtime", "run_delay", "timeslices", "nvcsw",
           "nivcsw"}
MEMORY = {"minflt", "majflt", "rss", "rss_anon", "rss_file", "vsz", "data", "stat_rss", "shared", "rss_peak", "vsz_peak",
          "statm_data", "page_tables", "brk"}
MOVING = {
    # It goes on reading, and its archive does not show what it reads last.
    "recorder": RUNNING | MEMORY | {"rchar", "syscr", "fds"},
    "busy": RUNNING,
    "kernel thread": RUNNING | {"flags"},
    "still": set(),
}

# The numbers of a file in their order, under the names that MOVING has for them.
STAT = ("state ppid pgid sid tty_nr tpgid flags minflt cminflt majflt cmajflt utime stime cutime cstime priority nice "
        "nlwp itrealvalue starttime vsz stat_rss rsslim start_code end_code start_stack kstkesp kstkeip pending blocked "
        "ignored caught wchan nswap cnswap exit_signal psr rtprio sched_policy blkio_delay guest_time cguest_time "
        "start_data end_data start_brk arg_start arg_end env_start env_end exit_code").split()
LINES = {"statm": "vsz rss shared statm_text lib statm_data dirty".split(),
         "schedstat": "exec_runtime run_delay timeslices".split()}
# The lines of status that may move, under the same names.
STATUS = {"State": "state", "voluntary_ctxt_switches": "nvcsw", "nonvoluntary_ctxt_switches": "nivcsw", "VmPeak": "vsz_peak",
          "VmSize": "vsz", "VmHWM": "rss_peak", "VmRSS": "rss", "RssAnon": "rss_anon", "RssFile": "rss_file",
          "VmData": "data", "VmPTE": "page_tables", "Name": "name"}
COUNTERS = {"nvcsw", "nivcsw", "utime", "stime", "minflt", "majflt", "exec_runtime", "run_delay", "timeslices", "rchar", "syscr"}

# How far a gauge may have moved, in pages: what the recorder uses and the kernel frees meanwhile.
MOVES = {
    "nr_free_pages": 300, "nr_free_pages_blocks": 1024, "nr_zone_inactive_anon": 64, "nr_zone_active_anon": 64,
    "nr_inactive_anon": 64, "nr_active_anon": 64, "nr_anon_pages": 64, "nr_slab_reclaimable": 64,
    "nr_slab_unreclaimable": 64, "nr_dirty_threshold": 100, "nr_dirty_background_threshold": 100,
}

# The same of /proc/meminfo, in KiB.
MEM_MOVES = {
    "MemFree": 1200, "MemAvailable": 1200, "Inactive": 256, "Active": 256, "Inactive(anon)": 256, "Active(anon)": 256,
    "AnonPages": 256, "Slab": 256, "SReclaimable": 256, "SUnreclaim": 256, "KReclaimable": 256, "Committed_AS": 256,
}


def parse_stat(raw):
    """Split /proc/PID/stat; the name may hold anything, so it ends at the last parenthesis."""
    close = raw.rindex(b")")
    return [None, raw[raw.index(b"(") + 1:close]] + raw[close + 2:].split()


def parse_status(raw):
    status = {}
    for line in raw.split(b"\n"):
        key, colon, value = line.partition(b":\t")
        if colon:
            status.setdefault(key.decode(), value.split())
    return status


def same_worker(got, want):
    """What a worker of a workqueue works at moves, and is behind the first sign; a rescuer has one name for ever."""
    def identity(name):
        return name if name.startswith(b"kworker/R-") else re.split(b"[+-]", name)[0]
    return identity(got) == identity(want)


class Guest:
    def __init__(self, version):
        lab = subprocess.run([ROOT / "scripts/guest/lab", "freeze", version, "--dumps"], stdout=subprocess.PIPE,
                             check=True, text=True)
        self.version = version
        self.folder = pathlib.Path(lab.stdout.strip().splitlines()[-1])
        self.proc = self.folder / "truth/proc"
        self.zoo = {}
        for line in (self.folder / "zoo.tsv").read_text().splitlines():
            name, _, tid = line.split("\t")
            self.zoo[int(tid)] = name
        self.meta = dict(line.split("=", 1) for line in (self.folder / "meta").read_text().splitlines())
        self.clock = dict(line.split("=") for line in (self.folder / "truth/clock.end").read_text().split())

    def rows(self, columns, *options, target="ram"):
        run = subprocess.run([KWALK, "-t", self.folder / target, "ps", "--format", "jsonl", "-o", ",".join(columns),
                              *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if run.returncode or run.stderr:
            raise RuntimeError(f"kwalk ended with {run.returncode}: {run.stderr.decode(errors='replace').strip()}")
        return [json.loads(line) for line in run.stdout.splitlines()]

    def kind(self, tid, flags):
        """What kind of task this is, as to what may move between the recording and the freeze."""
        if tid == int(self.meta["RECORDER_PID"]):
            return "recorder"
        if self.zoo.get(tid) == "busy":
            return "busy"
        return "kernel thread" if flags & 0x200000 and tid not in self.zoo else "still"


class Tally:
    def __init__(self):
        self.compared = self.excepted = 0
        self.wrong = []

    def check(self, where, field, got, want):
        self.compared += 1
        if got != want and not (isinstance(want, set) and got in want):
            self.wrong.append(f"{where} {field}: kwalk {got!r}, /proc {want!r}")


def pieces(file, text):
    """Pairs of a name and a piece of the text."""
    if file == "stat":
        begin, end = text.index(b"(") + 1, text.rindex(b") ")
        return [("tid", text[:begin]), ("name", text[begin:end]), *zip(STAT, text[end + 2:].split(b" "), strict=True)]
    if file in LINES:
        return list(zip(LINES[file], text.split(b" "), strict=True))
    if file == "io":
        return [(line.split(b":")[0].decode(), line) for line in text.split(b"\n")]
    if file == "status":
        lines = [(line.partition(b":")[0].decode(), line) for line in text.split(b"\n")]
        return [(STATUS.get(key, key), line.removeprefix(b"Name:\t")) for key, line in lines]
    if file == "comm":
        return [("name", text.removesuffix(b"\n")), ("end", text[-1:])]
    return [(file, text)]


def may_move(name, moving, got, want):
    if name == "name":
        return want.startswith(b"kworker/") and same_worker(got, want)
    if name not in moving:
        return False
    return name not in COUNTERS or int(got.split()[-1]) >= int(want.split()[-1])


def compare_file(tally, where, moving, file, got, want):
    for (name, piece), (_, wanted) in zip(pieces(file, got), pieces(file, want), strict=True):
        if piece != wanted and may_move(name, moving, piece, wanted):
            tally.excepted += 1
            tally.compared += 1
        else:
            tally.check(where, f"{file} {name}", piece, wanted)


def report(name, tally, nr):
    for line in tally.wrong[:40]:
        print(f"  {line}", file=sys.stderr)
    word = "not ok" if tally.wrong else "ok"
    print(f"{word} {name} {nr} rows, {tally.compared} values compared, {tally.excepted} excepted, "
          f"{len(tally.wrong)} wrong", flush=True)
