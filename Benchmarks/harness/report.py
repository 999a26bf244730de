"""The tables that people read."""
import os
import platform
import subprocess

PACKAGES = ["mpd", "mpv", "cmus", "mopidy", "mopidy-mpd", "pulseaudio", "libpulse0", "flac", "libflac12", "mosquitto"]


def host():
    names = [text.split(":")[1].strip() for text in open("/proc/cpuinfo") if text.startswith("model name")]
    version = subprocess.run(["pulseaudio", "--version"], capture_output=True, text=True).stdout.strip()
    return {"kernel": platform.release(), "cpu": names[0] if names else "unknown processor", "cores": os.cpu_count(),
            "pulseaudio": version, "packages": packages()}


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


def cells(row, rivals):
    """The words of a line, in the order of `titles`."""
    sign, unit, others = "≥" if row["least"] else "≤", row["unit"], row.get("others", {})
    target = "–" if row["target"] is None else f"{sign} {number(row['target'], unit)}"
    words = [row["what"], target, number(row["value"], unit), {None: "–", True: "yes", False: "**no**"}[row["met"]]]
    if rivals:
        words += [number(others[name], unit) if name in others else "–" for name in rivals]
        ratio = row.get("ratio")
        words += [f"{number(others[row['best']], unit)} ({row['best']})" if others else "–",
                  f"{ratio:.2g}" if ratio is not None else "–"]
    return words


def titles(rivals):
    return ["what", "target", "here", "met", *rivals, *(["best of the others", "ratio to it"] if rivals else [])]


def line(words):
    return "| " + " | ".join(words) + " |"


def rivals_of(rows):
    """Names of those that were measured beside, in the order in which they came."""
    return list(dict.fromkeys(name for row in rows for name in row.get("others", {})))


def table(rows):
    rivals = rivals_of(rows)
    head = titles(rivals)
    return [line(head), "|" + "---|" * len(head), *(line(cells(row, rivals)) for row in rows)]


def report(results, caveats):
    """RESULTS.md."""
    about = results["host"]
    versions = ", ".join(f"{name} {version}" for name, version in about.get("packages", {}).items())
    lines = [
        "# Results", "",
        "Written by `make bench`. PulseAudio with a null sink, FLAC 44.1 kHz/16, recordings of the sink's monitor at 5 ms.",
        "The targets are the best of MPD, mpv, cmus and Mopidy as measured before this player was written, or better; the",
        "players beside it in a table were measured in the same run, and `ratio to it` is ours to the best of them.", "",
        f"{results['date']}, {about['cpu']}, {about['cores']} cores, Linux {about['kernel']}, {about['pulseaudio']}.", ""]
    if versions:
        lines += [f"Debian packages: {versions}.", ""]
    if results.get("missing"):
        lines += [f"Not on this machine: {', '.join(results['missing'])}.", ""]
    for failure in results.get("failures", []):
        lines += [f"{failure['player']} failed in {failure['measure']}: {failure['why']}", ""]
    for name, measure in results["measures"].items():
        before, after = measure["load"]
        when = f"{measure['date']}, load" if "date" in measure else "Load"
        lines += [f"## {name}", "", f"{when} average {before:.1f} before, {after:.1f} after.", "", *table(measure["rows"]), ""]
    return "\n".join(lines) + "\n" + caveats
