"""The time for which programs were ready to run and had no processor: the cause of delays on a busy machine."""

from __future__ import annotations

import os
import pathlib

TICKS = os.sysconf("SC_CLK_TCK")


class ProcessorWaits:
    """Adds up the waits of all threads of some processes, and the time that the host takes from a virtual machine.

    A test of delays adds them to its bound, which so is exact on an idle machine. A thread that waits is counted when it runs
    again.
    """

    def __init__(self, processes: list[int]) -> None:
        """Begin to count."""
        self._folders = [pathlib.Path(f"/proc/{one}/task") for one in processes]
        # Nanoseconds of each thread, also of those that have ended.
        self._threads: dict[str, int] = {}
        self._before = 0.0
        self._before = self.seconds()

    def seconds(self) -> float:
        """Return the seconds since the begin."""
        for folder in self._folders:
            try:
                for thread in os.listdir(folder):
                    self._threads[thread] = int((folder / thread / "schedstat").read_text().split()[1])
            except OSError:
                # The process, or a thread of it, has just ended.
                continue
        stolen = int(pathlib.Path("/proc/stat").read_text().split(maxsplit=9)[8]) / TICKS
        return sum(self._threads.values()) / 1e9 + stolen - self._before
