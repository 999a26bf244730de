#!/usr/bin/env python3
"""Measures the release build beside other players. `make bench`, or `make bench BENCH="clock scale" RIVALS="mpd mpv"`.

Writes Benchmarks/results.json (every number), Benchmarks/RESULTS.md (the tables) and the table in docs/measurements.md. The test material is kept in
--material (default: a folder of the user's cache; 6 GB of it are for the measure `seek`). Everything is measured on
private sound servers; nothing of the user's own is touched. Status 1 when a player or a measure failed.
"""
import argparse
import datetime
import importlib
import json
import os
import pathlib
import tempfile
import time

import rivals
from harness import headline, report
from harness.bench import Bench

HERE = pathlib.Path(__file__).resolve().parent
# Those of the last line run only when they are asked for.
MEASURES = ("queries", "resources", "clock", "audible", "gapless", "seek", "announce", "scale", "waiters", "bridges", "fleet",
            "formats", "foreign", "resampler", "growth", "library", "mpd")
USUAL = MEASURES[:-6]


def players(text):
    """Names in one argument."""
    names = text.split()
    for name in names:
        if name not in rivals.ALL:
            raise argparse.ArgumentTypeError(f"'{name}' is none of: {' '.join(rivals.ALL)}")
    return names


def arguments():
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "nowplayingd-bench"
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("measures", nargs="*", choices=[[], *MEASURES], default=[], help=" ".join(MEASURES))
    parser.add_argument("--rivals", default="", type=players, help="players to measure beside ours: " + " ".join(rivals.ALL))
    parser.add_argument("--program", default=HERE.parent / "build/nowplayingd")
    parser.add_argument("--material", default=cache)
    parser.add_argument("--output", default=HERE, type=pathlib.Path, help="folder of results.json and RESULTS.md")
    parser.add_argument("--samples", default=60, type=int, help="of every kind of clock reading; commands: half of it")
    parser.add_argument("--trials", default=200, type=int, help="of each command in the measure audible")
    parser.add_argument("--window", default=60, type=int, help="seconds in which wakeups and CPU are counted")
    parser.add_argument("--items", default=1000, type=int, help="after which memory is looked at again")
    parser.add_argument("--files", default=100_000, type=int, help="that the library scans")
    parser.add_argument("--tracks", default=1_000_000, type=int, help="of the library that is asked")
    parser.add_argument("--minutes", default=10, type=float, help="of playing beside scans of the library; 0: none")
    return parser.parse_args()


def now(form="%Y-%m-%d %H:%M UTC"):
    return datetime.datetime.now(datetime.timezone.utc).strftime(form)


def done(earlier, run, failures, **found):
    """What is kept of a measure. `earlier`: of the last time, or None; `found`: its load, remarks, and rows: none if it failed.

    One that failed keeps its earlier table, with that table's date, and says below it that it failed since.
    """
    failures = [failure | {"date": now()} for failure in failures]
    if not found["rows"] and earlier:
        who = {(failure["measure"], failure["player"]) for failure in failures}
        before = [failure for failure in earlier.get("failures", []) if (failure["measure"], failure["player"]) not in who]
        return earlier | {"failures": before + failures}
    return run | found | {"date": now(), "failures": failures}


def main():
    options = arguments()
    kinds, missing = rivals.found(options.rivals)
    if missing:
        print(f"Not on this machine: {', '.join(missing)}. Debian has them: Scripts/rivals {' '.join(missing)}")
    file = options.output / "results.json"
    results = json.loads(file.read_text()) if file.exists() else {"measures": {}}
    # What is kept with every measure: tables of several runs stand in one file.
    run = {"run": now("%Y-%m-%d %H:%M:%S UTC"), "rivals": list(kinds), "missing": missing, "host": report.host()}
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="nowplaying-bench") as folder, \
            tempfile.TemporaryDirectory(prefix="nowplaying-bench", dir=memory) as files:
        bench = Bench(options, folder, files, kinds)
        for name in options.measures or USUAL:
            before, begun, failed = os.getloadavg()[0], time.monotonic(), len(bench.failures)
            bench.remarks = []
            try:
                rows = importlib.import_module(f"measures.{name}").run(bench)
            except Exception:  # what the other measures find is not lost with it
                bench.failed(name, "nowplayingd")
                rows = []
            load = [before, os.getloadavg()[0]]
            results["measures"][name] = done(results["measures"].get(name), run, bench.failures[failed:],
                                             load=load, rows=rows, remarks=bench.remarks)
            write(options.output, results, bench.notes)
            print(f"{name}: {time.monotonic() - begun:.0f} s, load {load[0]:.1f} to {load[1]:.1f}")
            for text in report.table(rows, kinds) if rows else []:
                print("  " + text.replace("**", ""), flush=True)
    if options.output == HERE:
        headline.write(HERE.parent / "docs" / "measurements.md", results)
    return 1 if bench.failures else 0


def write(folder, results, notes):
    """Both files, earlier results of other measures kept."""
    for name in ("missing", "failures"):  # of files that kept them for the last run alone
        results.pop(name, None)
    results["date"], results["host"] = now(), report.host()
    results.setdefault("numbers", {}).update(notes)
    results["measures"] = {name: results["measures"][name] for name in MEASURES if name in results["measures"]}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "results.json").write_text(json.dumps(results, indent=1, ensure_ascii=False, default=float) + "\n")
    (folder / "RESULTS.md").write_text(report.report(results, (HERE / "CAVEATS.md").read_text()))


if __name__ == "__main__":
    raise SystemExit(main())
