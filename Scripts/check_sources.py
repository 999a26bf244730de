#!/usr/bin/env python3
"""Checks that `swift format lint` and the compiler do not make: one line per finding, status 1 if there is one.

Imports      a target imports only targets that it declares, and declares only targets that are above it in
             Package.swift (test targets may use any); Foundation only in tests.
Lengths      no file of Swift, Python, C or shell over 400 lines, the median of Sources below 150.
Docs         these begin with `///`: a `package` declaration, a requirement of a `package protocol`, a non-private
             declaration at the top of a file (except in programs' main.swift), and every other member of a type that
             another file of the target seems to use. In tests: only `package` declarations. Exempt: requirements of a
             documented protocol or of a protocol of the language (`==`, `hash`, `init(stringLiteral:)` …), overrides,
             and properties and cases whose type explains them: text, a flag, a type of the project. A bare number
             needs its unit, unless its name makes it a count, a version or an identity.
Numbers      no conversion of a floating value to an integer that can trap, and no unchecked sum with a length from
             media: see swift_numbers.py.
State        no stored variable can be written by another file: see swift_state.py.
Words        no documentation comment opens with What, Who, Whether …, nor uses tell, tells or told: see swift_words.py.
Commands     no `default` in a switch over remote commands or names of methods: an unknown one would become another.
Releases     no name of a shared library with its version, and no package with one in its name, in Sources and Scripts: these
             differ between releases, and come from CLibraryNames or from a package for development. No file or folder that
             C opened is used without looking for null: a newer libc declares that its functions take none.
Machines     no file names the folder of this checkout or the home directory of the present user.

usage: check_sources.py [--root FOLDER] [--manifest FILE]
"""
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys

import swift_members
import swift_numbers
import swift_state
import swift_words

LONGEST, MEDIAN = 400, 150

IMPORT = re.compile(
    r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:private|fileprivate|internal|package|public)\s+)?import\s+"
    r"(?:(?:struct|class|enum|protocol|typealias|func|let|var|actor)\s+)?(\w+)")
ATTRIBUTE_LINE = re.compile(r"^@\w+(\(.*\))?$")
CONFORMANCE = re.compile(
    r"^(==|<|<=|>|>=|hash\(into|description\b|debugDescription\b|makeIterator\(|next\(\)|encode\(to|"
    r"init\(\w+Literal\b|"
    r"unownedExecutor\b|enqueue\(|checkIsolated\(|isIsolatingCurrentContext\(|asUnownedSerialExecutor\(|provideScope\()")
PROPERTY = re.compile(r"\b(?:var|let)\s+(\w+)(?::\s*([^={]+?))?\s*(?:=\s*(.*?))?\s*(?:\{.*)?$")
NUMBER = re.compile(r"\b(?:U?Int(?:8|16|32|64)?|Double|Float)\b")
COUNT = re.compile(r"(?:^count|Count|^version|Version|^number|Number|^channels|^[pug]id|^ticket|^user)$")

LIBRARY = re.compile(r"\blib[A-Za-z][A-Za-z0-9+._-]*[A-Za-z0-9]")
# A soname, or a package whose name ends with the version of one.
VERSIONED = re.compile(r"\.so\.\d|\d(?:t64)?$")
LIBRARIES_WITH_NUMBERS = {"libmpg123", "libpcre2", "libsqlite3", "libebur128"}
# A file or folder from C that a plain constant takes.
UNLOOKED = re.compile(r"^\s*(?:let|var) \w+ = (?:fopen|fdopen|popen|opendir|fdopendir)\(.*\)$")


class Manifest:
    """Targets of Package.swift in their order, with their declared dependencies."""

    def __init__(self, description):
        self.order = [target["name"] for target in description["targets"]]
        self.tests = {t["name"] for t in description["targets"] if t["type"] == "test"}
        self.tests |= {n for n in self.order if n.startswith("Test")}
        self.needs, self.folders = {}, {}
        for target in description["targets"]:
            name = target["name"]
            self.needs[name] = [next(iter(d.values()))[0] for d in target["dependencies"]]
            base = "Tests" if name in self.tests else "Sources"
            self.folders[name] = target.get("path") or f"{base}/{name}"

    def findings(self):
        """Dependencies that point up the list."""
        for name in self.order:
            if name in self.tests:
                continue
            for needed in self.needs[name]:
                if needed in self.order and self.order.index(needed) >= self.order.index(name):
                    yield f"Package.swift: {name} needs {needed}, which does not stand above it"


def lines_of(path):
    return path.read_text(encoding="utf-8").splitlines()


def import_findings(root, manifest):
    for name in manifest.order:
        may = set(manifest.needs[name]) | {name}
        for path in sorted((root / manifest.folders[name]).rglob("*.swift")):
            for number, line in enumerate(lines_of(path), 1):
                found = IMPORT.match(line)
                if not found:
                    continue
                module, place = found[1], f"{path.relative_to(root)}:{number}"
                if module in manifest.order and module not in may:
                    yield f"{place}: {name} imports {module} without declaring it in Package.swift"
                if module.startswith("Foundation") and name not in manifest.tests:
                    yield f"{place}: {module} is for tests only"


def is_code(path):
    """True for source code in a language with a limit of file length."""
    if path.suffix in (".swift", ".py", ".c", ".h", ".sh", ".bash", ".fish"):
        return True
    with open(path, "rb") as file:
        return file.read(2) == b"#!"


def length_findings(root, tracked):
    lengths = {path: len(lines_of(path)) for path in tracked if is_code(path)}
    for path, count in lengths.items():
        if count > LONGEST:
            yield f"{path.relative_to(root)}: {count} lines, {LONGEST} at most"
    own = [count for path, count in lengths.items()
           if path.suffix == ".swift" and path.relative_to(root).parts[0] == "Sources"]
    if own and statistics.median(own) >= MEDIAN:
        yield f"Sources: the median file has {statistics.median(own):.0f} lines, below {MEDIAN} is wanted"


def is_documented(lines, number):
    """True if a doc comment is above line `number`; only attributes may be between them."""
    above = number - 1
    while above >= 0 and ATTRIBUTE_LINE.match(lines[above].strip()):
        above -= 1
    return above >= 0 and lines[above].strip().startswith("///")


def is_plain(line):
    """True for the declaration of a property whose name and type explain it."""
    found = PROPERTY.search(line)
    if not found:
        return False
    name, kind, value = found[1], found[2] or "", found[3] or ""
    is_number = NUMBER.search(kind.replace("[UInt8]", "")) or (not kind and re.match(r"-?\d", value))
    return not is_number or COUNT.search(name) is not None


def is_plain_case(rest):
    """True if the cases have no values, or one value each that the name of the case or its type explains."""
    for name, values in swift_members.CASE.findall(rest):
        parts = [part for part in re.split(r",(?![^<\[(]*[>\])])", values[1:-1]) if part.strip()]
        if "->" in values or len(parts) > 1 and any(":" not in part for part in parts):
            return False
        for part in parts:
            label, _, kind = part.rpartition(":")
            own = label.strip() or name
            if NUMBER.search(kind.replace("[UInt8]", "")) and not COUNT.search(own) and kind.strip().lower() != own:
                return False
    return True


def is_exempt(member, line, package):
    """True if a protocol or the superclass documents the member, or its own declaration explains it."""
    if CONFORMANCE.match("init" + member.rest if member.kind == "init" else member.rest):
        return True
    if re.search(r"\boverride\b", member.modifiers) or package.is_witness(member):
        return True
    return member.kind in ("var", "let") and is_plain(line) or member.kind == "case" and is_plain_case(member.rest)


def is_seen_outside(member, file, neighbours, is_test):
    """True if other targets may use the member, or another file of its target seems to; in tests, only the first counts."""
    if member.access in ("package", "public"):
        return True
    if is_test or any(one.access in swift_members.PRIVATE for one in [member, *member.scopes]):
        return False
    if member.is_outermost:
        return file.path.name != "main.swift"
    if member.scopes[-1].kind == "protocol" and member.scopes[-1].access == "package":
        return True
    return any(swift_members.uses(other, member) for other in neighbours if other is not file)


def documentation_findings(root, sources, manifest):
    files = {path: swift_members.Source(path) for path in sources}
    package = swift_members.Package(files.values())
    targets = {name: [file for path, file in files.items() if (root / folder) in path.parents]
               for name, folder in manifest.folders.items()}
    for name, neighbours in targets.items():
        for file in neighbours:
            for member in file.members:
                line = file.lines[member.number]
                if (not is_documented(file.lines, member.number)
                        and (member.is_outermost or not is_exempt(member, line, package))
                        and is_seen_outside(member, file, neighbours, name in manifest.tests)):
                    yield f"{file.path.relative_to(root)}:{member.number + 1}: no doc comment: {line.strip()[:60]}"


def command_findings(root, sources):
    """Switches over commands whose `default` would treat an unknown command as another one."""
    names = set()
    for name, case in (("RemoteCommand", r"    case "), ("MethodName", r"        case ")):
        for path in sources:
            if path.name == f"{name}.swift":
                lines = [line for line in lines_of(path) if re.match(case + r"\w+[\w, =\".]*$", line)]
                names |= {word for line in lines for word in re.findall(r"(\w+)(?: = \"[\w.]+\")?(?:,|$)", line)}
    for path in sources:
        if path.relative_to(root).parts[0] != "Sources":
            continue
        switches = []
        for number, line in enumerate(lines_of(path), 1):
            indent = len(line) - len(line.lstrip())
            while switches and indent <= switches[-1][0] and line.strip() == "}":
                switches.pop()
            if re.match(r"\s*(?:[\w.]+(?:\(.*\))? = |return |let \w+ = )?switch .*\{$", line):
                switches.append((indent, []))
            elif switches and indent == switches[-1][0] and line.lstrip().startswith("case "):
                switches[-1][1].extend(re.findall(r"(?<![\w)])\.(\w+)", line.split(":")[0]))
            elif switches and indent == switches[-1][0] and re.match(r"\s*default\b", line):
                cases = set(switches[-1][1])
                if len(cases) > 1 and cases <= names:
                    yield f"{path.relative_to(root)}:{number}: a default in a switch over commands: list them"


def release_findings(root, tracked):
    """Names of libraries or packages that another release of Debian does not have."""
    for path in tracked:
        if path.relative_to(root).parts[0] not in ("Sources", "Scripts"):
            continue
        for number, line in enumerate(lines_of(path), 1):
            for name in LIBRARY.findall(line):
                if name not in LIBRARIES_WITH_NUMBERS and VERSIONED.search(name):
                    yield f"{path.relative_to(root)}:{number}: names {name}, which differs between releases"


def null_findings(root, sources):
    """Files and folders from C that are used whether they are there or not."""
    for path in sources:
        lines = lines_of(path)
        for number, line in enumerate(lines):
            # The last condition of a `guard` or an `if` looks for null.
            if UNLOOKED.match(line) and not re.match(r"\s*(?:else )?\{", "".join(lines[number + 1:number + 2])):
                yield f"{path.relative_to(root)}:{number + 1}: does not look for null; write `guard let`, or `!` in a test"


def machine_findings(root, tracked):
    names = {str(root), str(pathlib.Path.home())} - {"/", "/root"}
    for path in tracked:
        try:
            text = path.read_text(encoding="utf-8")
        except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
            continue
        for name in names:
            if re.search(re.escape(name) + r"(?![\w-])", text):
                yield f"{path.relative_to(root)}: names {name}, a folder of this machine"


def files_of(root):
    """Files that git tracks, or all files if there is no repository."""
    git = subprocess.run(["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                         capture_output=True, text=True)
    if git.returncode == 0 and git.stdout:
        return sorted({root / name for name in git.stdout.split("\0") if name and (root / name).is_file()})
    return sorted(path for path in root.rglob("*") if path.is_file() and ".build" not in path.parts)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--root", default=pathlib.Path(__file__).resolve().parent.parent)
    arguments.add_argument("--manifest", help="output of `swift package dump-package`, made when not given")
    options = arguments.parse_args()
    root = pathlib.Path(options.root).resolve()
    if options.manifest:
        text = pathlib.Path(options.manifest).read_text(encoding="utf-8")
    else:
        text = subprocess.run(["swift", "package", "--package-path", root, "dump-package"], check=True,
                              capture_output=True, text=True).stdout
    manifest = Manifest(json.loads(text))
    tracked = files_of(root)
    sources = [p for p in tracked if p.suffix == ".swift" and p.relative_to(root).parts[0] in ("Sources", "Tests")]
    findings = [*manifest.findings(), *import_findings(root, manifest), *length_findings(root, tracked),
                *documentation_findings(root, sources, manifest), *command_findings(root, sources),
                *release_findings(root, tracked), *null_findings(root, sources), *machine_findings(root, tracked),
                *swift_numbers.findings(root, sources), *swift_state.findings(root, sources),
                *swift_words.findings(root, sources)]
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
