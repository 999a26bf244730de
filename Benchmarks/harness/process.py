"""What a process has used, from /proc and its POSIX clock."""
import pathlib
import time


def cpu(pid):
    """CPU seconds of all threads, ended ones too."""
    return time.clock_gettime((~pid << 3) | 2)


def voluntary(pid):
    """Voluntary context switches of every thread that lives."""
    counts = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        try:
            status = (task / "status").read_text()
        except (FileNotFoundError, ProcessLookupError):  # the thread has ended since it was listed
            continue
        for line in status.splitlines():
            if line.startswith("voluntary_ctxt_switches:"):
                counts[task.name] = int(line.split()[1])
    return counts


def memory(pid):
    """Proportional and unique set size, bytes."""
    sizes = {}
    for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]:
        name, value = line.split(":")
        sizes[name] = int(value.split()[0]) * 1024
    return {"pss": sizes["Pss"], "uss": sizes["Private_Clean"] + sizes["Private_Dirty"]}


class Window:
    """Wakeups and CPU between construction and `done`."""

    def __init__(self, pid):
        self.pid, self.begun = pid, time.monotonic()
        self.switches, self.used = voluntary(pid), cpu(pid)

    def done(self):
        seconds = time.monotonic() - self.begun
        switches = sum(n - self.switches.get(task, 0) for task, n in voluntary(self.pid).items())
        return {"seconds": seconds, "switches": switches, "switches_per_second": switches / seconds,
                "cpu_per_minute": (cpu(self.pid) - self.used) * 60 / seconds, **memory(self.pid)}
