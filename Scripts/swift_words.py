"""Finds wording in Swift files that CONTRIBUTING.md, section Style, rules out.

Openers   a documentation comment that opens with What, Who, Whether, How, Where or Which, in Sources and Tests.
Telling   the words tell, tells and told in Sources, identifiers included.
Budgets   number of both in folders whose comments are not rewritten yet. A folder may not exceed its numbers; whoever
          rewrites it lowers them, and removes the line at 0.
"""
import re

OPENER = re.compile(r"^\s*/// (?:What|Who|Whether|How|Where|Which)\b")
TELLING = re.compile(r"\b(?:tell|tells|told)\b", re.IGNORECASE)
# Labels of C structures of callbacks.
FOREIGN = re.compile(r"\btell: \{ context in")

# Folder: openers, telling.
BUDGETS = {
    "Sources/PlaybackEngine": (250, 180),
}


def line_findings(place, line, is_source):
    """Wording of one line; the first part of a finding is its kind."""
    if OPENER.match(line):
        yield "openers", f"{place}: a documentation comment opens with {line.split()[1]}; name the declaration"
    if is_source:
        for word in TELLING.findall(FOREIGN.sub("", line)):
            yield "telling", f"{place}: {word}; write reports, shows or announces"


def findings(root, sources):
    """Lines with such wording, and folders beyond their budgets."""
    counts = {folder: {"openers": 0, "telling": 0} for folder in BUDGETS}
    for path in sources:
        name = path.relative_to(root)
        folder = "/".join(name.parts[:2])
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for kind, finding in line_findings(f"{name}:{number}", line, name.parts[0] == "Sources"):
                if folder in counts:
                    counts[folder][kind] += 1
                else:
                    yield finding
    for folder, (openers, telling) in BUDGETS.items():
        for kind, budget in (("openers", openers), ("telling", telling)):
            if counts[folder][kind] > budget:
                yield f"{folder}: {counts[folder][kind]} {kind} (see Scripts/swift_words.py), {budget} at most"
