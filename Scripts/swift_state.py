"""Finds stored state that another file of its target can write.

A stored variable of a class, an actor or a struct is `private` or `private(set)`, so only its own file writes it. A lock or
an atomic number is `private`, as code that can read it can change its contents. Exempt are:

- private types;
- records: structs without a mutating function that another file can call. Their fields belong to the owner of the value;
- handlers: properties that hold a function, which the owner of the object connects;
- properties that a protocol of the type requires with `set`: its users write them by its contract.
"""
import re

import swift_members

STATEFUL = ("class", "actor", "struct")
OWNED = re.compile(r"\b(?:private|fileprivate)\b")
LOCK = re.compile(r"(?::|=)\s*(?:Mutex|Atomic)\b")
OBSERVERS = re.compile(r"\s*(?:didSet|willSet)\b")
HANDLER = re.compile(r":\s*\(*\s*(?:@\w+\s+)*\([^{=]*\)\s*(?:async\s*)?(?:throws(?:\(\w+\))?\s*)?->")


def is_stored(member, lines):
    """True if a `var` has storage: it has no block after its name, except after a value or of observers."""
    before, brace, after = member.rest.partition("{")
    if not after.strip():
        after = next((line for line in lines[member.number + 1:] if line.strip()), "")
    return not brace or "=" in before or OBSERVERS.match(after) is not None


def mutating_types(files):
    """Names of structs with a mutating function that other files can call."""
    return {member.scopes[-1].name for file in files for member in file.members
            if member.scopes and re.search(r"\bmutating\b", member.modifiers)
            and member.access not in swift_members.PRIVATE}


def settable(files):
    """Names of the properties that each protocol requires with `set`."""
    names = {}
    for member in (member for file in files for member in file.members):
        if member.scopes and member.scopes[-1].kind == "protocol" and re.search(r"\{[^}]*\bset\b", member.rest):
            names.setdefault(swift_members.last(member.scopes[-1].name), set()).add(member.name)
    return names


def findings(root, sources):
    """Variables that another file can write."""
    targets = {}
    for path in sources:
        parts = path.relative_to(root).parts
        if parts[0] == "Sources":
            targets.setdefault(parts[1], []).append(swift_members.Source(path))
    files = [file for target in targets.values() for file in target]
    required, parents = settable(files), {}
    for file in files:
        for name, given in file.parents.items():
            parents.setdefault(name, set()).update(swift_members.last(parent) for parent in given)
    for target in targets.values():
        mutating = mutating_types(target)
        for file in target:
            yield from file_findings(root, file, mutating, required, parents)


def file_findings(root, file, mutating, required, parents):
    for member in file.members:
        if (member.kind not in ("var", "let") or not member.scopes or member.scopes[-1].kind not in STATEFUL
                or re.search(r"\bstatic\b", member.modifiers)
                or any(scope.access in swift_members.PRIVATE for scope in member.scopes)
                or OWNED.search(member.modifiers)):
            continue
        owner = member.scopes[-1]
        where = f"{file.path.relative_to(root)}:{member.number + 1}"
        if LOCK.search(member.rest):
            yield f"{where}: other files can change the contents of {member.name}: make it private"
        elif (member.kind == "var" and is_stored(member, file.lines)
                and (owner.kind != "struct" or owner.name in mutating) and not HANDLER.search(member.rest)
                and not any(member.name in required.get(one, ()) for one in parents.get(owner.name, ()))):
            yield f"{where}: other files can write {member.name}: make it private(set), with a function"
