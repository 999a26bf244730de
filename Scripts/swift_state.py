"""Finds stored state that another file of its target can write, in the targets of ROOMS.

A stored variable of a class, an actor or a struct is `private` or `private(set)`, so only its own file writes it. A lock or
an atomic number is `private`, as code that can read it can change its contents. Exempt are private types, and records:
structs without a mutating function that another file can call. Their fields belong to the owner of the value.
"""
import re

import swift_members

ROOMS = ("Sources/AudioDecoders", "Sources/MediaAccess", "Sources/PlaybackEngine", "Sources/Sessions",
         "Sources/StateKeeping")
STATEFUL = ("class", "actor", "struct")
OWNED = re.compile(r"\b(?:private|fileprivate)\b")
LOCK = re.compile(r"(?::|=)\s*(?:Mutex|Atomic)\b")


def is_stored(member):
    """True if a `var` has storage: it has no block after its name, except after a value or of observers."""
    before, brace, after = member.rest.partition("{")
    return not brace or "=" in before or re.match(r"\s*(?:didSet|willSet)\b", after) is not None


def mutating_types(files):
    """Names of structs with a mutating function that other files can call."""
    return {member.scopes[-1].name for file in files for member in file.members
            if member.scopes and re.search(r"\bmutating\b", member.modifiers)
            and member.access not in swift_members.PRIVATE}


def findings(root, sources):
    """Variables that another file can write."""
    for room in ROOMS:
        files = [swift_members.Source(path) for path in sources if (root / room) in path.parents]
        mutating = mutating_types(files)
        for file in files:
            for member in file.members:
                if (member.kind not in ("var", "let") or not member.scopes or member.scopes[-1].kind not in STATEFUL
                        or re.search(r"\bstatic\b", member.modifiers)
                        or any(scope.access in swift_members.PRIVATE for scope in member.scopes)
                        or OWNED.search(member.modifiers)):
                    continue
                where = f"{file.path.relative_to(root)}:{member.number + 1}"
                if LOCK.search(member.rest):
                    yield f"{where}: other files can change the contents of {member.name}: make it private"
                elif member.kind == "var" and is_stored(member) and (
                        member.scopes[-1].kind != "struct" or member.scopes[-1].name in mutating):
                    yield f"{where}: other files can write {member.name}: make it private(set), with a function"
