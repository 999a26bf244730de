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


def worked(pid, rest=0.5, limit=20):
    """Waits until the process has worked, and rests for `rest` seconds: a player has then just filled its buffers."""
    end, before = time.monotonic() + limit, cpu(pid)
    while cpu(pid) - before < 1e-3:
        if time.monotonic() > end:
            raise RuntimeError(f"process {pid} has not worked for {limit} s")
        time.sleep(0.05)
    while time.monotonic() < end:
        before = cpu(pid)
        time.sleep(rest)
        if cpu(pid) - before < 1e-4:
            return
    raise RuntimeError(f"process {pid} has not rested for {rest} s")


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
