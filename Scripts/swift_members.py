"""Swift for check_sources.py: the types of declarations, and the files that name them."""
import collections
import re

ATTRIBUTE = r"@\w+(?:\([^)]*\))?"
MODIFIER = (
    rf"(?:{ATTRIBUTE}|nonisolated(?:\(\w+\))?|unowned(?:\(\w+\))?|static|final|class(?=\s+(?:func|var|subscript)\b)|"
    r"override|mutating|consuming|borrowing|indirect|convenience|required|lazy|weak|isolated|prefix|postfix|infix|"
    r"(?:private|fileprivate|internal|package|public)(?:\(set\))?)")
TYPES = ("struct", "class", "enum", "protocol", "actor")
DECLARATION = re.compile(
    rf"^\s*((?:{MODIFIER}\s+)*)(func|var|let|init|subscript|case|typealias|associatedtype|extension|{'|'.join(TYPES)})"
    r"\b\s*(.*)")
ACCESS = re.compile(r"\b(private|fileprivate|package|public)\b(?!\()")
PRIVATE = ("private", "fileprivate")
INHERITANCE = re.compile(r":(.*?)(?:\bwhere\b|$)", re.DOTALL)
PARENT = re.compile(r"(\w+)(?=\s*(?:<.*?>)?\s*(?:[,&]|$))")
MARK = re.compile(r'//[^\n]*|/\*.*?\*/|(#*)("""|")|[()]', re.DOTALL)
CASE = re.compile(r"(\w+)\s*(\((?:[^()]|\([^()]*\))*\))?\s*(?:=[^,]*)?(?:,\s*|$)")


def blank(text):
    """The text with blanks for comments and for the words of literals; code inside literals stays. The length is the same."""
    pieces, waiting, depth, at = [], [], 0, 0

    def drop(start, end):
        pieces.append(re.sub(r"[^\n]", " ", text[start:end]))

    def literal(start, hashes, quote):
        """Drops words up to the end of the literal or to code in it. Returns the position after that."""
        stop = re.compile(rf"\\{hashes}\(|\\{hashes}.|{quote}{hashes}", re.DOTALL)
        while found := stop.search(text, start):
            drop(start, found.start())
            if found[0].endswith("(") and found[0].startswith("\\"):
                pieces.append(found[0])
                waiting.append((depth, hashes, quote))
                return found.end()
            if not found[0].startswith("\\"):
                pieces.append(found[0])
                return found.end()
            drop(found.start(), found.end())
            start = found.end()
        drop(start, len(text))
        return len(text)

    while found := MARK.search(text, at):
        pieces.append(text[at:found.start()])
        at = found.end()
        if found[2]:
            pieces.append(found[0])
            at = literal(at, found[1], found[2])
        elif found[0] == "(":
            pieces.append("(")
            depth += 1
        elif found[0] == ")":
            pieces.append(")")
            if waiting and waiting[-1][0] == depth:
                _, hashes, quote = waiting.pop()
                at = literal(at, hashes, quote)
            else:
                depth -= 1
        else:
            drop(found.start(), at)
    pieces.append(text[at:])
    return "".join(pieces)


Scope = collections.namedtuple("Scope", "kind name access")


class Member(collections.namedtuple("Member", "number access modifiers kind name label rest scopes")):
    """A declaration: its line from 0, the label of its first parameter, the text after its name, the types around it."""

    @property
    def is_outermost(self):
        return not self.scopes and self.access == "internal"


class Source:
    """A file: its declarations in types or at the top, and the words that it uses."""

    def __init__(self, path):
        self.path = path
        text = path.read_text(encoding="utf-8")
        self.lines, self.code = text.splitlines(), blank(text)
        self.words = set(re.findall(r"\w+", self.code))
        self.extended = set(re.findall(r"\bextension\s+([\w.]+)", self.code))
        self.members, self.hidden, self.parents = [], {}, collections.defaultdict(set)
        self.scan()

    def scan(self):
        scopes, header, words = [], None, ""
        lines = self.code.split("\n")
        for number, line in enumerate(lines):
            found = DECLARATION.match(line)
            if found and None not in scopes:
                modifiers, kind, rest = found.groups()
                word, given = re.match(r"`?([\w.]+)`?", rest), ACCESS.search(modifiers)
                name = word[1] if word and kind not in ("init", "subscript") else kind
                access = given[1] if given else "internal"
                if kind in TYPES or kind == "extension":
                    whole = ".".join([*(s.name for s in scopes[-1:] if kind != "extension"), name])
                    # An extension has at most the visibility of its type.
                    access = self.hidden.get(whole, access)
                    if access in PRIVATE:
                        self.hidden[whole] = access
                    header, words = Scope(kind, whole, access), ""
                if kind != "extension":
                    label = re.search(r"\(\s*(\w*)", " ".join([rest, *lines[number + 1:number + 2]]))
                    self.members.append(
                        Member(number, access, modifiers, kind, name, label[1] if label else "", rest, tuple(scopes)))
            for piece in re.split(r"([{}])", line):
                if piece == "{":
                    scopes.append(header)
                    if clause := header and INHERITANCE.search(words):
                        self.parents[header.name] |= set(PARENT.findall(clause[1]))
                    header = None
                elif piece == "}":
                    del scopes[-1:]
                elif header:
                    words += piece + " "


def last(name):
    return name.rsplit(".", 1)[-1]


class Package:
    """Facts from all sources: conformances of types, and requirements of protocols."""

    def __init__(self, sources):
        self.parents, self.asked = collections.defaultdict(set), collections.defaultdict(set)
        for source in sources:
            for name, parents in source.parents.items():
                self.parents[name] |= parents
            for member in source.members:
                if member.scopes and member.scopes[-1].kind == "protocol":
                    self.asked[last(member.scopes[-1].name)].add(self.key(member))

    @staticmethod
    def key(member):
        kind = "var" if member.kind == "let" else "typealias" if member.kind == "associatedtype" else member.kind
        return kind, member.name, member.label if kind in ("func", "init") else ""

    def is_witness(self, member):
        """True if a protocol of the member's type requires the member."""
        if not member.scopes or member.scopes[-1].kind == "protocol":
            return False
        seen, waiting = set(), [member.scopes[-1].name]
        while waiting:
            name = waiting.pop()
            if self.key(member) in self.asked[last(name)]:
                return True
            waiting += self.parents[name] - seen
            seen |= self.parents[name]
        return False


def uses(source, member):
    """True if another file seems to use the member: names it after a dot, or in an extension of its type."""
    kind, name, owner = member.kind, member.name, last(member.scopes[-1].name)
    if kind in TYPES or kind in ("typealias", "associatedtype"):
        return name in source.words
    if kind == "subscript":
        return owner in source.words
    if member.label not in ("", "_"):
        first = re.escape(member.label) + r"\s*:"
    else:
        first = r"(?!\)|\w+\s*:)" if member.label else r"\)"
    if "=" in member.rest.split("{")[0]:
        first = ""  # A call may leave it out.
    if kind == "init":
        return re.search(rf"\b{owner}(?:<[^>()]*>)?(?:\.init)?(?:\(\s*{first}|\s*\{{)", source.code) is not None
    if name not in source.words:
        return False
    if any(last(t) == owner for t in source.extended) or any(owner in p for p in source.parents.values()):
        return True
    if kind != "func":
        return re.search(rf"\.{name}\b", source.code) is not None or (
            owner in source.words and re.search(rf"\b{name}:", source.code) is not None)
    return re.search(rf"\.{name}(?:\(\s*{first}|\s*\{{|\b(?![\w(<]))", source.code) is not None
