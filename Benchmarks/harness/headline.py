"""The few lines of docs/measurements.md that `make bench` writes, from its own results."""
import re
import textwrap

from harness.report import measured, rivals_of

BEGIN, END = "<!-- written by make bench -->", "<!-- end of what make bench writes -->"
NAMES = {"mpd": "MPD", "mpv": "mpv", "cmus": "cmus", "mopidy": "Mopidy"}
# Measure, the name of its row, and the words for a reader. Percentiles are named.
LINES = [
    ("clock", "clock, steady, first minute, p95", "clock error in steady play, 95th percentile"),
    ("clock", "clock, after seek, p95", "clock error after a seek, 95th percentile"),
    ("resources", "voluntary context switches a second, playing", "wakeups per second, playing"),
    ("resources", "CPU of 60 s of playing, against flac -d and pacat", "processor time, against `flac -d` and `pacat`"),
    ("resources", "proportional memory, playing", "memory, playing"),
    ("queries", "exec to first answered command, p50", "from the start to the first answer, median"),
    ("audible", "play to sound, p50", "from play to sound, median"),
    ("audible", "pause to silence, p50", "from pause to silence, median"),
    ("audible", "seek to sound, p50", "from seek to sound, median"),
]


def when(results):
    """The run, if all rows come from one run; otherwise the date of the oldest."""
    measures = [results["measures"][name] for name in dict.fromkeys(measure for measure, _, _ in LINES)]
    runs = {measure.get("run") for measure in measures}
    if len(runs) == 1 and None not in runs:
        return f"One run of `make bench`, {runs.pop()[:10]}."
    dates = [measure.get("date") or results["date"] for measure in measures]
    return f"Several runs of `make bench` since {min(dates)[:10]}."


def ranks(results):
    """Sentences on the rows of all measures in which another player is better, and in which the intervals overlap."""
    better, overlapping = [], []
    for measure, found in results["measures"].items():
        for row in found["rows"]:
            name = f"`{measure}`: {row['what']}"
            if not row.get("apart", True):
                overlapping.append(name)
            elif row.get("ratio") and (row["ratio"] < 1 if row["least"] else row["ratio"] > 1):
                better.append(f"{name} ({NAMES[row['best']]})")
    sentences = []
    if better:
        sentences.append("Rows of all tables in which another player is better: " + "; ".join(better) + ".")
    if overlapping:
        sentences.append("Rows in which our interval overlaps that of the best of the others: " + "; ".join(overlapping) + ".")
    return sentences


def words(results):
    """A table and the sentences below it, or None if a row was not measured beside other players."""
    compared = []
    for measure, what, text in LINES:
        found = [row for row in results["measures"].get(measure, {}).get("rows", []) if row["what"] == what]
        if not found or not found[0].get("others"):
            return None
        compared.append((text, found[0]))
    names = rivals_of([row for _, row in compared])
    lines = [when(results), "", "| | nowplayingd | " + " | ".join(NAMES[name] for name in names) + " |",
             "|---" * (len(names) + 2) + "|"]
    for text, row in compared:
        ends = row.get("intervals", {})
        cells = [measured(row["value"], row["unit"], row.get("interval"))]
        cells += [measured(row["others"][name], row["unit"], ends.get(name)) if name in row["others"] else "–"
                  for name in names]
        lines.append(f"| {text} | " + " | ".join(cells) + " |")
    for sentence in ranks(results):
        lines += ["", *textwrap.wrap(sentence, 127, break_long_words=False, break_on_hyphens=False)]
    return "\n".join(lines)


def write(document, results):
    """Replaces the text between the marks, if there are results for it."""
    text, new = document.read_text(), words(results)
    if new is None or BEGIN not in text or END not in text:
        return
    document.write_text(re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: f"{BEGIN}\n{new}\n{END}", text,
                               flags=re.DOTALL))
