"""Rows proc-all and proc-all-frozen: all that six files of /proc tell of each of 10,000 processes.

The first is live in a guest; the second compares kwalk on a frozen guest's RAM with the files of as many processes of
this machine.

FILES names the fields that belong to each file, under the names that kwalk has or shall have for them. Those in the
catalogue of this very kwalk are asked for, the note says how many, and the first that lack: to extend the row, name a
field here. stat's place of wchan says since 4.2 only whether the process waits, as its state does; where it waits is in
none of the six files.
"""

import re

import live
import programs
from figures import Figure, Target

PROCS = 10000
ROUNDS, QUICK_ROUNDS = 5, 2
FILES = {
    "stat": """pid comm state ppid pgid sid tty_nr tpgid flags minflt cminflt majflt cmajflt utime stime cutime cstime priority
            ni nlwp starttime vsz stat_rss rsslim start_code end_code start_stack pending blocked ignored caught
            exit_signal psr rtprio sched_policy blkio_delay guest_time cguest_time start_data end_data start_brk arg_start
            arg_end env_start env_end exit_code""",
    "statm": "vsz rss shared statm_text statm_data",
    "status": """umask tgid ngid ppid tracer ruid euid suid fsuid rgid egid sgid fsgid fdsize groups nstgid nspid nspgid nssid
              vsz_peak vsz locked pinned rss_peak rss rss_anon rss_file rss_shmem data stack text lib page_tables swap
              hugetlb core_dumping thp_enabled nlwp sigq sigq_limit pending shared_pending blocked ignored caught
              cap_inheritable cap_permitted cap_effective cap_bounding cap_ambient no_new_privs seccomp seccomp_filters
              cpus_allowed cpus_allowed_list mems_allowed mems_allowed_list nvcsw nivcsw""",
    "io": "rchar wchar syscr syscw read_bytes write_bytes cancelled_write_bytes",
    "schedstat": "exec_runtime run_delay timeslices",
    "cpuset": "cpuset",
}
# What of /proc's text is compared: the place in stat, the line of status in kB.
ITSELF = "bench_live"  # handles signals while kwalk looks at mapped memory
FLICKERING = {"state", "psr"}  # may change and change back
IN_STAT = {"ppid": 3, "pgid": 4, "sid": 5, "minflt": 9, "majflt": 11, "priority": 17, "ni": 18, "nlwp": 19, "psr": 38}
IN_STATUS = {"rss": "VmRSS", "rss_anon": "RssAnon", "rss_shmem": "RssShmem", "vsz": "VmSize", "data": "VmData",
             "stack": "VmStk", "text": "VmExe", "lib": "VmLib", "locked": "VmLck", "swap": "VmSwap"}


def covered(bench):
    """Return (fields that this kwalk has, fields of the six files that it lacks)."""
    listed = programs.output_of([str(bench.program("kwalk")), "--format", "tsv", "--no-headers", "fields"])
    fields = [line.split("\t") for line in listed.splitlines()]
    known = {name for cells in fields if "tasks" in cells[4] for name in [cells[0], *cells[1].split(",")]}
    wanted = list(dict.fromkeys(" ".join(FILES.values()).split()))
    return [name for name in wanted if name in known], [name for name in wanted if name not in known]


def expected(cells):
    """Turn the texts of the six files into {field: value as kwalk lists it}."""
    stat, _, status = (live.plain(cell) for cell in cells[:3])
    fields = [None, None] + stat[stat.rindex(")") + 2:].split()
    if len(fields) < 50:
        return {}
    values = {name: fields[at] for name, at in IN_STAT.items()}
    lines = dict(re.findall(r"(?m)^(\w+):\s*(\d+) kB$", status))
    values.update({name: str(int(lines[key]) * 1024) if key in lines else "-" for name, key in IN_STATUS.items()})
    values["uids"] = re.search(r"(?m)^Uid:\t(.*)$", status)[1].split()
    values.update(zip(("ruid", "euid", "suid", "fsuid"), values.pop("uids")))
    return values


def check(results, columns):
    """See that what stands still is the same by all ways; returns how many values were compared."""
    first, last = results["pread"].rows, results["again"].rows
    truth = {pid: expected(cells) for pid, cells in results["files"].rows.items() if len(cells) == 6}
    lists = {label: result.rows for label, result in results.items() if label != "files" and result.rows}
    compared = 0
    for pid in set(truth).intersection(*lists.values()):
        if first[pid][1] == ITSELF:
            continue
        for at, name in enumerate(columns):
            if first[pid][at] != last[pid][at]:
                continue  # it moved between the first list and the last
            cells = {label: rows[pid][at] for label, rows in lists.items()}
            if name in truth[pid]:
                cells["files"] = truth[pid][name]
            known = {label: cell for label, cell in cells.items() if cell != "?"}
            compared += len(known) - 1
            if len(set(known.values())) > 1 and name not in FLICKERING:
                raise programs.BenchError(f"results differ: {name} of process {pid} is {known}")
    return compared


def run(bench, row):
    columns, lacking = covered(bench)
    names = ",".join(columns)
    procs = 0 if bench.quick else PROCS
    ways = [f"pread:4:kwalk-pread:{names}", f"mapped:10:kwalk-mapped:{names}", f"anew:4:kwalk-mapped:anew/{names}",
            f"iterator:2:iter-all:/task_iter.bpf.o:{names}", "files:1:procfs-six", f"again:0:kwalk-pread:{names}"]
    results = live.measure(bench, procs=procs, first=[QUICK_ROUNDS if bench.quick else ROUNDS], ways=ways)
    compared = check(results, columns)
    note = (f"{results['files'].passes[0][0]} processes, {len(columns)} fields; compared {compared} values;"
            f" not in kwalk yet: {' '.join(lacking) or 'none'}")
    return figures_of(bench, row, results, columns, note)


def figures_of(bench, row, results, columns, note):
    def figure(label, name, peer=None, limit=None):
        target = Target("ratio", ">=", limit) if limit and not bench.quick else None
        return Figure(row, name, "ns/process", results[label].per_row(), peer, target, results[label].remark())

    mapped = figure("mapped", "kwalk, mapped")
    pread = figure("pread", "kwalk, pread", mapped)
    pread.note = "; ".join(filter(None, (pread.note, note)))
    anew = figure("anew", "kwalk, mapped, each row anew", mapped)
    iterator = figure("iterator", "BPF iterator", mapped)
    unknown = [name for at, name in enumerate(columns)
               if any(cells[at] == "?" for cells in results["iterator"].rows.values())]
    iterator.note = iterator.note or (f"without {' '.join(unknown)}" if unknown else "")
    return [mapped, anew, pread, figure("files", "six files", mapped, 60), figure("files", "six files beside pread", pread, 8),
            iterator, figure("iterator", "BPF iterator beside pread", pread)]


def run_frozen(bench, row):
    columns, lacking = covered(bench)
    ram = bench.guest(0 if bench.quick else PROCS) / "ram"
    ways = [f"frozen:10:kwalk-file:{ram}:{','.join(columns)}", f"anew:10:kwalk-file:{ram}:anew/{','.join(columns)}",
            "files:1:procfs-six"]
    with programs.real_processes(bench, 0 if bench.quick else PROCS):
        results = live.measure_here(bench, [QUICK_ROUNDS if bench.quick else ROUNDS], ways)
    kwalk, anew, files = (Figure(row, name, "ns/process", results[label].per_row())
                          for label, name in (("frozen", "kwalk, frozen RAM"),
                                              ("anew", "kwalk, frozen RAM, each row anew"), ("files", "six files")))
    kwalk.note = results["frozen"].why or (f"{results['frozen'].passes[0][0]} processes, {len(columns)} fields;"
                                           f" not in kwalk yet: {' '.join(lacking) or 'none'}")
    anew.peer = kwalk
    files.peer, files.note = kwalk, f"{results['files'].passes[0][0]} processes of this machine"
    if not bench.quick:
        files.target = Target("ratio", ">=", 100)
    return [kwalk, anew, files]
