"""Checks that a newer Home Assistant has all names that the integration imports. Its wheel is read, not installed.

usage: newest.py WHEEL    status 1 and a line for each name that is missing
"""

from __future__ import annotations

import ast
import pathlib
import re
import sys
import zipfile

PACKAGE = pathlib.Path(__file__).parents[2] / "custom_components/nowplayingd"


def imports(tree: ast.AST) -> list[tuple[str, str, bool]]:
    """Return module and name of each import of Home Assistant, and True for one that may fail."""
    found = []

    def visit(node: ast.AST, is_guarded: bool) -> None:
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "homeassistant":
            found.extend((node.module, alias.name, is_guarded) for alias in node.names)
        for child in ast.iter_child_nodes(node):
            # A module of `try`, and imports for the checker of types alone.
            guards = isinstance(node, ast.Try) or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test))
            visit(child, is_guarded or guards)

    visit(tree, False)
    return found


def has(wheel: zipfile.ZipFile, module: str, name: str) -> bool:
    """Return True if a module has a name: its own, one that it imports, or a submodule.

    Its text is searched, because this Python may be too old to read it.
    """
    path, files = module.replace(".", "/"), set(wheel.namelist())
    if not files.isdisjoint({f"{path}/{name}.py", f"{path}/{name}/__init__.py"}):
        return True
    file = next((one for one in (f"{path}.py", f"{path}/__init__.py") if one in files), None)
    pattern = rf"^(?:class|def|async def|type) {name}\b|^{name}\b\s*[:=]|^    (?:\w+ as )?{name},?(?:  #.*)?$|import .*\b{name}\b"
    return file is not None and re.search(pattern, wheel.read(file).decode(), re.MULTILINE) is not None


def main() -> int:
    """Check all modules of the integration."""
    count = missing = 0
    with zipfile.ZipFile(sys.argv[1]) as wheel:
        for file in sorted(PACKAGE.rglob("*.py")):
            for module, name, is_guarded in imports(ast.parse(file.read_text())):
                count += 1
                if not is_guarded and not has(wheel, module, name):
                    missing += 1
                    print(f"{file.name}: {module} has no {name}")
    print(f"{count} names in {pathlib.Path(sys.argv[1]).name}, {missing} missing")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
