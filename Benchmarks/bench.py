#!/usr/bin/env python3
"""Measures the release build and holds it against its targets. `make bench`, or `make bench BENCH="clock scale"`.

Writes Benchmarks/results.json (every number) and Benchmarks/RESULTS.md (the table). The test material is kept in
--material (default: a folder of the user's cache; 3 GB of it are for the measure `seek`). Everything is measured on
private sound servers; nothing of the user's own is touched.
"""
import argparse
import datetime
import importlib
import json
import os
import pathlib
import platform
import subprocess
import tempfile

from harness.code import Material

HERE = pathlib.Path(__file__).resolve().parent
MEASURES = ("queries", "resources", "clock", "audible", "scale", "seek", "bridges", "fleet", "formats")


class Bench:
    """What a measure gets: the program, test material, fresh folders, and a place for what it finds."""

    def __init__(self, options, folder):
        self.program = pathlib.Path(options.program).resolve()
        self.material = Material(options.material)
        self.samples, self.window, self.items = options.samples, options.window, options.items
        self.notes = {}
        self._folder, self._count = pathlib.Path(folder), 0

    def folder(self):
        """A new folder, gone when the run is over."""
        self._count += 1
        return self._folder / str(self._count)

    def note(self, name, numbers):
        """Numbers for results.json."""
        self.notes[name] = numbers

    @staticmethod
    def row(what, value, unit, target, least=False):
        """A line of the table; `least`: the target is a minimum."""
        rounded = round(value, 2)
        return {"what": what, "value": rounded, "unit": unit, "target": target, "least": least,
                "met": rounded >= target if least else rounded <= target}


def line(row):
    sign = "≥" if row["least"] else "≤"
    unit = f" {row['unit']}" if row["unit"] else ""
    return f"| {row['what']} | {sign} {row['target']:g}{unit} | {row['value']:g}{unit} | {'yes' if row['met'] else '**no**'} |"


def report(results):
    host = results["host"]
    lines = [
        "# Results", "",
        "Written by `make bench`. PulseAudio with a null sink, FLAC 44.1 kHz/16, recordings of the sink's monitor at 5 ms.",
        "The targets are the best of MPD, mpv, cmus and Mopidy in the same measurements, or better.", "",
        f"{results['date']}, {host['cpu']}, {host['cores']} cores, Linux {host['kernel']}, {host['pulseaudio']}.", ""]
    for name, rows in results["measures"].items():
        before, after = rows["load"]
        lines += [f"## {name}", "", f"Load average {before:.1f} before, {after:.1f} after.", "",
                  "| what | target | measured | met |", "|---|---|---|---|", *map(line, rows["rows"]), ""]
    return "\n".join(lines)


def host():
    names = [text.split(":")[1].strip() for text in open("/proc/cpuinfo") if text.startswith("model name")]
    version = subprocess.run(["pulseaudio", "--version"], capture_output=True, text=True).stdout.strip()
    return {"kernel": platform.release(), "cpu": names[0] if names else "unknown processor", "cores": os.cpu_count(),
            "pulseaudio": version}


def main():
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "nowplayingd-bench"
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("measures", nargs="*", choices=[[], *MEASURES], default=[], help=" ".join(MEASURES))
    arguments.add_argument("--program", default=HERE.parent / "build/nowplayingd")
    arguments.add_argument("--material", default=cache)
    arguments.add_argument("--output", default=HERE, type=pathlib.Path, help="folder of results.json and RESULTS.md")
    arguments.add_argument("--samples", default=60, type=int, help="of every kind of clock reading; commands: half of it")
    arguments.add_argument("--window", default=60, type=int, help="seconds in which wakeups and CPU are counted")
    arguments.add_argument("--items", default=1000, type=int, help="after which memory is looked at again")
    options = arguments.parse_args()
    file = options.output / "results.json"
    results = json.loads(file.read_text()) if file.exists() else {"measures": {}}
    with tempfile.TemporaryDirectory(prefix="nowplaying-bench") as folder:
        bench = Bench(options, folder)
        for name in options.measures or MEASURES:
            before = os.getloadavg()[0]
            rows = importlib.import_module(f"measures.{name}").run(bench)
            results["measures"][name] = {"load": [before, os.getloadavg()[0]], "rows": rows}
            print(f"{name} (load {before:.1f} to {os.getloadavg()[0]:.1f})")
            for row in rows:
                print("  " + line(row).strip("| ").replace("**", ""), flush=True)
            write(options.output, results, bench.notes)


def write(folder, results, notes):
    """Both files, earlier results of other measures kept."""
    results["date"] = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    results["host"] = host()
    results.setdefault("numbers", {}).update(notes)
    results["measures"] = {name: results["measures"][name] for name in MEASURES if name in results["measures"]}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_text(json.dumps(results, indent=1, ensure_ascii=False, default=float) + "\n")
    (folder / "RESULTS.md").write_text(report(results))


if __name__ == "__main__":
    main()
