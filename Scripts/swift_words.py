"""Finds wording in Swift files that CONTRIBUTING.md, section Style, rules out.

Openers   a documentation comment that opens with What, Who, Whether, How, Where or Which, and any other comment that opens
          with What, Who or Whether and their kin, in Sources and Tests.
Telling   the words tell, tells and told in Sources, identifiers included.
"""
import re

OPENER = re.compile(r"^\s*/// (?:What|Who|Whether|How|Where|Which)\b")
NOUN_CLAUSE = re.compile(r"^\s*// (?:Whatever|Whoever|Whether|What|Whom|Who)\b(?!.*\?)")
TELLING = re.compile(r"\b(?:tell|tells|told)\b", re.IGNORECASE)
# Labels of C structures of callbacks.
CALLBACK = re.compile(r"\btell: \{ context in")


def line_findings(place, line, is_source):
    """Findings for one line; `place` is its file and number."""
    if OPENER.match(line):
        yield f"{place}: a documentation comment opens with {line.split()[1]}; name the declaration"
    if NOUN_CLAUSE.match(line):
        yield f"{place}: a comment opens with {line.split()[1]}; name the subject"
    if is_source:
        for word in TELLING.findall(CALLBACK.sub("", line)):
            yield f"{place}: {word}; write reports, shows or announces"


def findings(root, sources):
    """Findings in all files."""
    for path in sources:
        name = path.relative_to(root)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            yield from line_findings(f"{name}:{number}", line, name.parts[0] == "Sources")
