"""The package itself: its wheel, its types, its version, and its example."""

from __future__ import annotations

import ast
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib
import unittest
import zipfile

ROOT = pathlib.Path(__file__).parents[2]
PACKAGE = ROOT / "custom_components/nowplayingd/client"
PROJECT = tomllib.loads((ROOT / "python/pyproject.toml").read_text())
# The Python of Debian, which has setuptools, wheel and mypy as packages.
PYTHON = "/usr/bin/python3"


class PackageTests(unittest.TestCase):
    """Tests that need no box."""

    def test_wheel(self) -> None:
        """The wheel has all modules, and works without the repository."""
        with tempfile.TemporaryDirectory() as folder:
            path = subprocess.run([ROOT / "Scripts/wheel", folder], check=True, capture_output=True, text=True).stdout.strip()
            self.assertEqual(pathlib.Path(path).name, f"aionowplayingd-{PROJECT['project']['version']}-py3-none-any.whl")
            with zipfile.ZipFile(path) as wheel:
                files = {name for name in wheel.namelist() if ".dist-info/" not in name}
                self.assertEqual(files, {f"aionowplayingd/{one.name}" for one in PACKAGE.iterdir() if one.is_file()})
                wheel.extractall(f"{folder}/installed")
            program = "import aionowplayingd as a; assert a.Player and a.State; print(a.__file__)"
            environment = {"PATH": os.environ["PATH"], "PYTHONPATH": f"{folder}/installed"}
            run = subprocess.run([PYTHON, "-B", "-c", program], cwd=folder, env=environment, check=True, capture_output=True, text=True)
            self.assertEqual(run.stdout.strip(), f"{folder}/installed/aionowplayingd/__init__.py")

    def test_version(self) -> None:
        """The package has the version of the product."""
        product = (ROOT / "Sources/NowPlaying/Product.swift").read_text()
        self.assertIn(f'static let version = "{PROJECT["project"]["version"]}"', product)

    def test_one_source(self) -> None:
        """Package and integration are the same files; the folder of the integration needs no link to another one."""
        self.assertTrue((ROOT / "python/src/aionowplayingd").samefile(PACKAGE))
        self.assertFalse(any(one.is_symlink() for one in (ROOT / "custom_components").rglob("*")))
        self.assertTrue((PACKAGE / "py.typed").is_file())

    def test_imports(self) -> None:
        """The package imports its own modules, the standard library, aiohttp and yarl, and nothing of Home Assistant."""
        for path in PACKAGE.glob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
                if isinstance(node, ast.ImportFrom) and node.level == 0:
                    names = [node.module or ""]
                for name in names:
                    top = name.partition(".")[0]
                    self.assertTrue(top in sys.stdlib_module_names or top in ("aiohttp", "yarl"), f"{path.name}: {name}")

    def test_types(self) -> None:
        """Package, example and this folder's documents pass mypy --strict."""
        if importlib.util.find_spec("mypy") is None:
            self.skipTest("NOT TESTED: types of aionowplayingd, which need mypy")
        with tempfile.TemporaryDirectory() as cache:
            command = [sys.executable, "-m", "mypy", "--config-file", "pyproject.toml", "--cache-dir", cache]
            document = pathlib.Path(cache, "readme.py")
            blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "python/README.md").read_text(), re.DOTALL | re.MULTILINE)
            self.assertEqual(len(blocks), 1)
            document.write_text(blocks[0])
            run = subprocess.run([*command, "src/aionowplayingd", "examples", document], cwd=ROOT / "python", capture_output=True, text=True)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def test_example(self) -> None:
        """The example has ten statements at most."""
        tree = ast.parse((ROOT / "python/examples/position.py").read_text())
        lines = {node.lineno for node in ast.walk(tree) if isinstance(node, ast.stmt)} - {1}
        self.assertLessEqual(len(lines), 10)
