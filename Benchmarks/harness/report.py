"""The tables that people read."""
import os
import platform
import re
import subprocess

import rivals

PACKAGES = ["mpd", "mpv", "cmus", "mopidy", "mopidy-mpd", "pulseaudio", "libpulse0", "flac", "libflac12", "mosquitto"]


def kernel():
    """Its version number; what a distribution or a host appends to it says nothing to others."""
    return re.match(r"[\d.]*\d|", platform.release())[0]


def host():
    names = [text.split(":")[1].strip() for text in open("/proc/cpuinfo") if text.startswith("model name")]
    version = subprocess.run(["pulseaudio", "--version"], capture_output=True, text=True).stdout.strip()
    return {"system": platform.system(), "machine": platform.machine(), "kernel": kernel(),
            "cpu": names[0] if names else "unknown processor", "cores": os.cpu_count(), "pulseaudio": version,
            "packages": packages()}


def packages():
    """{name: version} of what Debian brought."""
    try:
        listed = subprocess.run(["dpkg-query", "--show", "--showformat=${db:Status-Status} ${Package} ${Version}\n", *PACKAGES],
                                capture_output=True, text=True).stdout
    except FileNotFoundError:
        return {}
    words = [line.split() for line in listed.splitlines()]
    return {word[1]: word[2] for word in words if len(word) == 3 and word[0] == "installed"}


def number(value, unit):
    return f"{value:g}{' ' + unit if unit else ''}"


def measured(value, unit, ends=None):
    """A number with the ends of its interval, if it has one."""
    if not ends:
        return number(value, unit)
    low, high = ("?" if end is None else f"{end:g}" for end in ends)
    return f"{number(value, unit)} ({low} to {high})"


def compared(row):
    """The ratio to the best of the others. Only intervals that part say that one of the two is better."""
    if row.get("ratio") is None:
        return "–"
    return f"{row['ratio']:.2g}" if row.get("apart", True) else "not apart"


def cells(row, beside):
    """The words of a line, in the order of `titles`."""
    sign, unit, others = "≥" if row["least"] else "≤", row["unit"], row.get("others", {})
    target = "–" if row["target"] is None else f"{sign} {number(row['target'], unit)}"
    words = [row["what"], target, measured(row["value"], unit, row.get("interval")), {None: "–", True: "yes", False: "**no**"}[row["met"]]]
    if beside:
        ends = row.get("intervals", {})
        words += [measured(others[name], unit, ends.get(name)) if name in others else "–" for name in beside]
        words += [f"{number(others[row['best']], unit)} ({row['best']})" if "best" in row else "–",
                  compared(row)]
    return words


def titles(beside):
    return ["what", "target", "here", "met", *beside, *(["best of the others", "ratio to it"] if beside else [])]


def line(words):
    return "| " + " | ".join(words) + " |"


def rivals_of(rows):
    """Names of those that were measured beside, in the order in which they came."""
    return list(dict.fromkeys(name for row in rows for name in row.get("others", {})))


def table(rows, asked=()):
    """`asked`: those that were to be measured beside; where others are, each of them has a column, found or not."""
    beside = rivals_of(rows)
    if beside:
        beside += [name for name in asked if name not in beside]
    head = titles(beside)
    return [line(head), "|" + "---|" * len(head), *(line(cells(row, beside)) for row in rows)]


def reasons(measure):
    """Lines below a table: why a player, or a number of it, is not there."""
    lines = list(measure.get("remarks", []))
    lines += [f"{failure['player']} failed in {failure['measure']}, {failure['date']}: {failure['why']}"
              for failure in measure.get("failures", [])]
    if measure.get("missing"):
        lines.append(f"Not on this machine: {', '.join(measure['missing'])}.")
    if "rivals" in measure and rivals_of(measure["rows"]):
        others = [name for name in rivals.ALL if name not in measure["rivals"] + measure.get("missing", [])]
        if others:
            lines.append(f"Not asked for in this run: {', '.join(others)}.")
    return lines


def machine(about):
    """Lines on what the numbers were measured on."""
    versions = ", ".join(f"{name} {version}" for name, version in about.get("packages", {}).items())
    words = [about.get("system", "Linux"), about["kernel"], about.get("machine", "")]
    lines = [f"{about['cpu']}, {about['cores']} cores, {' '.join(filter(None, words))}, {about['pulseaudio']}.", ""]
    return lines + ([f"Debian packages: {versions}.", ""] if versions else [])


def report(results, caveats):
    """RESULTS.md."""
    about = results["host"]
    lines = [
        "# Results", "",
        "Written by `make bench`. PulseAudio with a null sink, FLAC 44.1 kHz/16, recordings of the sink's monitor at 5 ms.",
        "The targets are the best of MPD, mpv, cmus and Mopidy as measured before this player was written, or better; the",
        "players beside it in a table were measured in the same run, and `ratio to it` is ours to the best of them.",
        "Numbers in brackets are the interval of 95 % of a median. Where two intervals overlap, no player is the better one:",
        "`not apart`.", "",
        *machine(about)]
    for name, measure in results["measures"].items():
        before, after = measure["load"]
        when = f"{measure['date']}, load" if "date" in measure else "Load"
        run = f", in the run begun at {measure['run']}" if "run" in measure else ""
        lines += [f"## {name}", "", f"{when} average {before:.1f} before, {after:.1f} after{run}.", ""]
        if measure.get("host", about) != about:
            lines += machine(measure["host"])
        if measure["rows"]:
            lines += [*table(measure["rows"], measure.get("rivals", [])), ""]
        for text in reasons(measure):
            lines += [text, ""]
    return "\n".join(lines) + "\n" + caveats
