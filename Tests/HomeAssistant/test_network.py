"""A box and a Home Assistant on two hosts, in networks that this test shares with nobody."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import pytest

HERE = pathlib.Path(__file__).parent


@pytest.mark.skipif(shutil.which("avahi-daemon", path="/usr/sbin") is None, reason="there is no avahi-daemon")
@pytest.mark.skipif(os.getuid() != 0, reason="a network of its own needs root")
@pytest.mark.timeout(300)
async def test_two_hosts(
    request: pytest.FixtureRequest, record_property: Callable[[str, str], None]
) -> None:
    """Runs the tests of the file network.py in such networks."""
    words = ["unshare", "--net", "--mount", sys.executable, "-B", "-m", "pytest", str(HERE / "network.py"), "-q", "--show-capture=no"]
    programs = pathlib.Path(request.config.getoption("--programs")).resolve()
    # The address of a socket has 107 bytes: a folder below that of this test is too deep for it.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        run = await asyncio.create_subprocess_exec(
            *words, "-p", "no:sugar", "-n", "0", f"--programs={programs}", f"--basetemp={folder}/inside",
            cwd=HERE, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        said, _ = await run.communicate()
    record_property("figures", "\n".join(line for line in said.decode().splitlines() if line.startswith("a pulled cable")))
    assert run.returncode == 0, said.decode()
