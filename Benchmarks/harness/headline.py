"""The few lines of the README that `make bench` writes, from its own results."""
import re
import textwrap

from harness.report import number, rivals_of

BEGIN, END = "<!-- written by make bench -->", "<!-- end of what make bench writes -->"
NAMES = {"mpd": "MPD", "mpv": "mpv", "cmus": "cmus", "mopidy": "Mopidy"}
# Measure, what its row says, and how a reader is told of it.
LINES = [
    ("clock", "clock, steady, first minute, p95", "the position is wrong by at most {} in steady play"),
    ("clock", "clock, after seek, p95", "by {} after a seek"),
    ("resources", "voluntary context switches a second, playing", "playing wakes {} times a second"),
    ("resources", "CPU of 60 s of playing, against flac -d and pacat", "costs {} what `flac -d` and `pacat` cost"),
    ("resources", "proportional memory, playing", "takes {} of memory"),
    ("queries", "exec to first answered command, p50", "the first answer comes {} after the start"),
    ("audible", "play to sound, p50", "play is heard after {}"),
    ("audible", "pause to silence, p50", "pause after {}"),
    ("audible", "seek to sound, p50", "a seek after {}"),
]


def when(results):
    """How many runs, with an opened bracket: one, only where all that is named comes from one."""
    measures = [results["measures"][name] for name in dict.fromkeys(measure for measure, _, _ in LINES)]
    runs = {measure.get("run") for measure in measures}
    if len(runs) == 1 and None not in runs:
        return f"in one run of `make bench` ({runs.pop()[:10]}; "
    dates = [measure.get("date") or results["date"] for measure in measures]
    return f"in runs of `make bench` since {min(dates)[:10]} ("


def words(results):
    """Nothing, where not all of it was measured beside others."""
    parts, compared = [], []
    for measure, what, text in LINES:
        found = [row for row in results["measures"].get(measure, {}).get("rows", []) if row["what"] == what]
        if not found or not found[0].get("others"):
            return None
        row = found[0]
        best = f"{number(row['others'][row['best']], row['unit'])}, {NAMES[row['best']]}"
        parts.append(f"{text.format(number(row['value'], row['unit']))} ({best})")
        compared.append(row)
    names = [NAMES[name] + ("" if all(name in row["others"] for row in compared) else " (not in all of it)")
             for name in rivals_of(compared)]
    together = names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
    return (f"Measured beside {together} {when(results)}in brackets the best of the others; "
            f"all of it, with what it does not mean, in `Benchmarks/RESULTS.md`): " + ", ".join(parts) + ".")


def write(readme, results):
    """Puts them between the marks, if there is something to put."""
    text, new = readme.read_text(), words(results)
    if new is None or BEGIN not in text or END not in text:
        return
    lines = "\n".join(textwrap.wrap(new, 118, break_long_words=False, break_on_hyphens=False))
    readme.write_text(re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: f"{BEGIN}\n{lines}\n{END}", text,
                             flags=re.DOTALL))
