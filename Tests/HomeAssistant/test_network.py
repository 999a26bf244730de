"""A box that Avahi announces, in a network that this test shares with nobody."""

from __future__ import annotations

import asyncio
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent


@pytest.mark.skipif(shutil.which("avahi-daemon", path="/usr/sbin") is None, reason="there is no avahi-daemon")
@pytest.mark.skipif(os.getuid() != 0, reason="a network of its own needs root")
async def test_found(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> None:
    """Runs the tests of the file network.py in such a network."""
    words = ["unshare", "--net", "--mount", sys.executable, "-B", "-m", "pytest", str(HERE / "network.py"), "-q", "--show-capture=no"]
    programs = pathlib.Path(request.config.getoption("--programs")).resolve()
    run = await asyncio.create_subprocess_exec(
        *words, "-p", "no:sugar", "-n", "0", f"--programs={programs}", f"--basetemp={tmp_path}/inside",
        cwd=HERE, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    said, _ = await run.communicate()
    assert run.returncode == 0, said.decode()
