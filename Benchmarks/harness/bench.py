"""What a measure gets: the players, test material, fresh folders, and a place for what it finds."""
import functools
import math
import pathlib
import subprocess
import sys
import traceback

from harness.code import Material
from harness.daemon import Daemon
from harness.median import Median
from harness.sound import SoundServer


def _ends(median):
    """Of an interval, for results.json; null where it has none."""
    return [round(end, 2) if math.isfinite(end) else None for end in (median.low, median.high)]


class Bench:
    """`kinds`: the classes of the rivals, by name; `folder` and `memory`: for files, on a disk and not on one."""

    def __init__(self, options, folder, memory, kinds):
        self.program = pathlib.Path(options.program).resolve()
        self.material = Material(options.material)
        self.samples, self.trials = options.samples, options.trials
        self.window, self.items = options.window, options.items
        self.files, self.tracks, self.minutes = options.files, options.tracks, options.minutes
        self.players = {Daemon.name: functools.partial(Daemon, self.program), **kinds}
        # Remarks are those of the measure that is running.
        self.notes, self.failures, self.remarks = {}, [], []
        self._folder, self._memory, self._count = pathlib.Path(folder), pathlib.Path(memory), 0

    def folder(self):
        """A new folder, gone when the run is over."""
        self._count += 1
        return self._folder / str(self._count)

    def memory_folder(self):
        """The same for files that are to lie in memory."""
        self._count += 1
        return self._memory / str(self._count)

    def compiled(self, name):
        """The program of `harness/NAME.c`."""
        program = self._folder / name
        if not program.exists():
            self._folder.mkdir(parents=True, exist_ok=True)
            source = pathlib.Path(__file__).resolve().parent / f"{name}.c"
            subprocess.run(["cc", "-O2", "-pthread", "-o", program, source], check=True)
        return program

    def note(self, name, numbers):
        """Numbers for results.json."""
        self.notes[name] = numbers

    def remark(self, text):
        """A sentence below the table of the measure that is running."""
        self.remarks.append(text)

    def failed(self, measure, player):
        """Says which player failed where and why, while its exception is handled."""
        kind, error, trace = sys.exc_info()
        place = traceback.extract_tb(trace)[-1]
        why = f"{kind.__name__}: {error} ({pathlib.Path(place.filename).name}:{place.lineno})"
        self.failures.append({"measure": measure, "player": player, "why": why})
        print(f"  {player} failed in {measure}: {why}", flush=True)

    def in_turn(self, measure, act, options="", rounds=1, players=None):
        """{player: [what `act(player, server)` found in each round]}; one player at a time, all on one sound server.

        A player that fails is left out from there on.
        """
        found, out = {}, set()
        with SoundServer(self.folder(), options) as server:
            for _ in range(rounds):
                for name, kind in self.players.items():
                    if name in out or (players is not None and name not in players):
                        continue
                    try:
                        with kind(self.folder(), server) as player:
                            found.setdefault(name, []).append(act(player, server))
                    except Exception:  # whatever it is, the others go on
                        self.failed(measure, name)
                        out.add(name)
                        found.pop(name, None)
        return found

    @staticmethod
    def row(what, value, unit, target, least=False, others=None, ranked=True):
        """A line of the table; `least`: the target is a minimum; `others`: the same of other players, by name.

        Without a target the line is there for the comparison alone. Values of the type `Median` keep their intervals.
        `ranked`: whether the line says which player is the best; a single value without an interval does not.
        """
        rounded = round(float(value), 2)
        row = {"what": what, "value": rounded, "unit": unit, "target": target, "least": least,
               "met": None if target is None else bool(rounded >= target if least else rounded <= target)}
        if others:
            row["others"] = {name: round(float(other), 2) for name, other in others.items()}
        if others and ranked:
            best = (max if least else min)(others, key=lambda name: float(others[name]))
            row["best"] = best
            row["ratio"] = round(float(value) / float(others[best]), 3) if float(others[best]) else None
        if isinstance(value, Median):
            row["interval"] = _ends(value)
            if "best" in row:
                row["intervals"] = {name: _ends(other) for name, other in others.items()}
                row["apart"] = value.apart(others[row["best"]])
        return row

    @classmethod
    def rows(cls, what, values, unit, target, least=False, ranked=True):
        """The line of a table, from the values of all players by name; none where our own is missing."""
        others = {name: value for name, value in values.items() if name != Daemon.name}
        if Daemon.name not in values:
            return []
        return [cls.row(what, values[Daemon.name], unit, target, least, others, ranked)]
