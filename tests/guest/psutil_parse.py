"""What psutil makes of a tree of /proc's files: one JSON object. Run by the Python that Debian's python3-psutil is for.

    psutil_parse.py TREE
"""
import json
import sys

import psutil
import psutil._pslinux

psutil.PROCFS_PATH = sys.argv[1]
# These come from system calls, not from files: they would be of this machine.
CALLS = {"nice", "ionice", "cpu_affinity", "rlimit"}


def process(pid):
    """What psutil's own parsers tell of a process."""
    proc = psutil._pslinux.Process(pid)
    values = {
        "name": proc.name(), "cmdline": proc.cmdline(), "ppid": proc.ppid(), "status": proc.status(),
        "uids": proc.uids(), "gids": proc.gids(), "num_threads": proc.num_threads(), "terminal": int(proc._parse_stat_file()["ttynr"]),
        "memory": proc.memory_info(), "io": proc.io_counters(), "switches": proc.num_ctx_switches(),
        "cpu_times": proc.cpu_times(), "cpu": proc.cpu_num(), "create_time": proc.create_time(),
    }
    # Of a namedtuple the names as well.
    return {name: value._asdict() if hasattr(value, "_asdict") else value for name, value in values.items()}


def system():
    values = {
        "cpu_times": psutil.cpu_times(), "percpu": [times._asdict() for times in psutil.cpu_times(percpu=True)],
        "stats": psutil._pslinux.cpu_stats(), "memory": psutil.virtual_memory(), "boot_time": psutil.boot_time(),
        "cpus": psutil.cpu_count(), "pids": psutil.pids(),
    }
    return {name: value._asdict() if hasattr(value, "_asdict") else value for name, value in values.items()}


def main():
    whole = system()
    whole["processes"] = {str(pid): process(pid) for pid in whole["pids"]}
    json.dump(whole, sys.stdout)


main()
