"""Finds conversions and sums in Swift files that trap on numbers from outside.

Conversions   `Int64(…)`, `UInt32(…)`, `Int(…)` of a floating value without a label: it traps on values out of range and on
              NaN. `Int64(clamping: …)` of NowPlaying takes each value. An argument counts as floating if it rounds,
              has a literal with a fraction or an exponent, converts to Double or Float, or names something that a
              declaration makes floating: one of the same file, or a property or function of any file if no declaration of
              the same file makes it something else and no declaration at all makes it an integer.
Claims        Lengths from media (`lengthInFrames`, a granule position, the totals of the decoding libraries) next to an
              unchecked `+` or `*`, and `lengthInFrames` of a decoder outside of the targets that own it: other targets
              compute with `boundedLength`.
"""
import re

INTEGER = r"U?Int(?:8|16|32|64)?"
CALL = re.compile(rf"(?<![\w.]){INTEGER}\(")
LABEL = re.compile(r"\s*\w+\s*:(?!:)")
FLOATING_TYPE = re.compile(r"\b(\w+)\s*:\s*(?:inout\s+)?(?:Double|Float)\b")
INTEGER_TYPE = re.compile(rf"\b(\w+)\s*:\s*(?:inout\s+)?{INTEGER}\b")
FLOATING_RESULT = re.compile(r"\bfunc\s+(\w+)[^{\n]*->\s*(?:Double|Float)\b")
INTEGER_RESULT = re.compile(rf"\bfunc\s+(\w+)[^{{\n]*->\s*{INTEGER}\b")
FLOATING_PROPERTY = re.compile(
    r"\b(?:let|var)\s+(\w+)\s*:\s*(?:Double|Float)\b|\bstatic\s+let\s+(\w+)\s*=\s*-?[\d_]+(?:\.\d|[eE]\d)")
OTHER_TYPE = re.compile(r"\b(\w+)\s*:\s*(?:inout\s+)?(?!Double\b|Float\b)(?:\[|any\s|some\s)*[A-Z]\w*")
ASSIGNMENT = re.compile(r"\b(?:let|var)\s+(\w+)\s*=\s*([^\n]*)")
SIGN = re.compile(
    r"\.rounded\(|(?<![\w.])\d[\d_]*\.\d|(?<![\w.])\d[\d_]*(?:\.\d+)?[eE][-+]?\d|\b(?:Double|Float)\(|\.infinity\b|"
    r"\b(?:pow|sqrt|log2?|log10|exp2?|floor|ceil|round|trunc|fabs)\(")
MEMBER_ASSIGNMENT = re.compile(r"\b(?:let|var)\s+(\w+)\s*=\s*(?:try[?!]?\s+)?(?:\w+[?!]?\.)+(\w+)(?=[(,\n]| else| \{| \?\?)")
COMPARISON = re.compile(r"==|!=|<=|>=|&&|\|\||\s[<>]\s|\bcontains\(")
COMMENT = re.compile(r"//[^\n]*")

# This file has the conversion on which the others are based.
OWNER = "Sources/NowPlaying/TimeLimit.swift"
CLAIM = (r"(?:\blengthInFrames\b|\bgranule\b|\bbelievedLength\b|\b(?:ov|op)_pcm_(?:total|tell)\([^)]*\)|"
         r"\bmpg123_length\([^)]*\)|\binfo\.frames\b)")
SUM = re.compile(rf"{CLAIM}\)*\s*[?!]?\s*(?<!&)[+*](?!=?\s*\")|(?<!&)[+*]=?\s*(?:\w+[?!]?\.)*{CLAIM}")
DOOR = re.compile(r"\.lengthInFrames\b")
# The protocol and its decoders: they bound the lengths in files, or their owner bounds them.
DECODERS = ("AudioCore", "AudioDecoders")


def plain(text):
    """The text with comments and literals blanked, so that each character keeps its place; interpolations stay."""
    result, place, inside, depths = [], 0, None, []
    while place < len(text):
        if inside is None:
            comment = COMMENT.match(text, place)
            if comment:
                result.append(" " * len(comment[0]))
                place = comment.end()
                continue
            if text[place] == '"':
                inside = '"""' if text.startswith('"""', place) else '"'
                result.append(" " * len(inside))
                place += len(inside)
                continue
            if depths:
                depths[-1][0] += {"(": 1, ")": -1}.get(text[place], 0)
                if depths[-1][0] == 0:
                    inside = depths.pop()[1]
            result.append(text[place])
            place += 1
        elif text.startswith(inside, place):
            result.append(" " * len(inside))
            place += len(inside)
            inside = None
        elif text.startswith("\\(", place):
            result.append(" (")
            depths.append([1, inside])
            inside = None
            place += 2
        elif text[place] == "\\" and not text.startswith("\n", place + 1):
            result.append("  ")
            place += 2
        else:
            result.append("\n" if text[place] == "\n" else " ")
            place += 1
    return "".join(result)


def argument(text, start):
    """The text from `start` to the end of the parenthesis that was opened before it."""
    depth, place = 1, start
    while place < len(text) and depth:
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        place += 1
    return text[start:place - 1]


def without_integers(text):
    """The text without its conversions to integers: their arguments are checked separately."""
    result, place = "", 0
    while found := CALL.search(text, place):
        result += text[place:found.start()] + "0"
        place = found.end() + len(argument(text, found.end())) + 1
    return result + text[place:]


class Names:
    """Names that declarations make floating or integers."""

    def __init__(self, text):
        self.floating = set(FLOATING_TYPE.findall(text)) | set(FLOATING_RESULT.findall(text))
        self.integers = set(INTEGER_TYPE.findall(text)) | set(INTEGER_RESULT.findall(text))
        self.properties = {name for pair in FLOATING_PROPERTY.findall(text) for name in pair if name}
        self.properties |= set(FLOATING_RESULT.findall(text))
        self.others = set(OTHER_TYPE.findall(text))
        for name, value in ASSIGNMENT.findall(text):
            own = without_integers(value)
            if SIGN.search(own) and not COMPARISON.search(own):
                self.floating.add(name)
            else:
                self.others.add(name)
                if CALL.match(value):
                    self.integers.add(name)


    def learn(self, text, everywhere):
        """Adds the names that are assigned from a floating property or function of another file."""
        for name, member in MEMBER_ASSIGNMENT.findall(text):
            if member in everywhere:
                self.floating.add(name)
                self.others.discard(name)


def is_floating(text, own, everywhere):
    text = without_integers(text)
    if COMPARISON.search(text):
        # A conditional expression has the type of its branches.
        text = re.sub(r"^[^?]*\?", "", text)
    if SIGN.search(text):
        return True
    for name in re.finditer(r"(\.?)\b([A-Za-z_]\w*)\b(?!\s*:)(\.count\b)?", text):
        if name[3]:
            continue
        is_local = name[2] in own.floating and name[2] not in own.integers
        if is_local or name[2] in everywhere and (name[1] or name[2] not in own.others):
            return True
    return False


def findings(root, sources):
    """One line per finding in these files of `Sources`."""
    texts = {path: plain(path.read_text(encoding="utf-8")) for path in sources
             if path.relative_to(root).parts[0] == "Sources"}
    names = {path: Names(text) for path, text in texts.items()}
    integers = set().union(*(own.integers for own in names.values())) if names else set()
    everywhere = set().union(*(own.properties for own in names.values())) - integers if names else set()
    for path, text in texts.items():
        names[path].learn(text, everywhere)
        place = path.relative_to(root)
        if str(place) == OWNER:
            continue
        for found in CALL.finditer(text):
            inside = argument(text, found.end())
            if not LABEL.match(inside) and is_floating(inside, names[path], everywhere):
                line = text.count("\n", 0, found.start()) + 1
                yield f"{place}:{line}: {found[0]}…) of a floating value traps: {found[0]}clamping: …) does not"
        for number, line in enumerate(text.split("\n"), 1):
            if SUM.search(line):
                yield f"{place}:{number}: an unchecked sum or product with a length that media claim"
            if DOOR.search(line) and place.parts[1] not in DECODERS:
                yield f"{place}:{number}: lengthInFrames is what a file claims: boundedLength can be counted with"
