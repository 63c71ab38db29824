"""What the tests of mapped memory share: looking into what a guest printed between "=== NAME" and "=== end"."""
import re


def part(output, name):
    found = re.search(rf"(?ms)^=== {name}\n(.*?)^=== end\n", output)
    return found[1].splitlines() if found else []


def preads_of_mapped(trace, segments):
    """List the reads of /proc/kcore that lie in segments which are mapped: while the target is opened, and after."""
    kcore, reads = None, ([], [])
    after = 0
    for line in trace:
        opened = re.search(r'openat\(.*"/proc/kcore".*\) = (\d+)', line)
        kcore = opened[1] if opened else kcore
        # Once the target is open, kwalk gives up its capabilities.
        after |= "capset(" in line and kcore is not None
        call = re.search(r"\bp(?:read64|readv2?)\((\d+), .*, (\d+|0x[0-9a-f]+)(?:, 0)?\) += ", line)
        if kcore and call and call[1] == kcore and any(start <= int(call[2], 0) < start + size for start, size in segments):
            reads[after].append(line)
    return after, *reads


def judge_trace(output, case):
    """Print whether the strace of a kwalk in a guest shows no read of memory that it has mapped, as the case of this name."""
    segments = [(int(words[1], 16), int(words[2], 16)) for words in map(str.split, part(output, "segments"))
                if words[0] in ("text", "ram")]
    trace = part(output, "trace")
    maps = [line for line in trace if "mmap(" in line and "MAP_SHARED" in line]
    complete, opening, bad = preads_of_mapped(trace, segments)
    if not segments or not complete or len(maps) < len(segments):
        print(f"not ok {case}: the trace shows no mapping, or no end of opening")
    elif bad:
        print(f"not ok {case}: {len(bad)} preads, the first: {bad[0]}")
    else:
        print(f"{len(opening)} preads of RAM and text while the target is opened, none after")
        print(f"ok {case}")
