"""A Home Assistant in a process of its own, with an owner."""

from __future__ import annotations

import json
import os
import pathlib
import socket
import subprocess
import sys
import time
from typing import Any
import urllib.parse
import urllib.request

PATIENCE = 120

CONFIGURATION = """
homeassistant:
  name: Home
  unit_system: metric
  time_zone: Europe/Berlin
http:
  server_host: 127.0.0.1
  server_port: {port}
logger:
  default: warning
"""

# All steps: some of them set up integrations that need the Internet.
ONBOARDING = {"version": 4, "key": "onboarding", "data": {"done": ["user", "core_config", "analytics", "integration"]}}
OWNER = "ada"


class Home:
    """A Home Assistant whose configuration is in a folder, and its owner."""

    def __init__(self, folder: pathlib.Path, configuration: str, packages: str = "", place: pathlib.Path | None = None) -> None:
        """Start it in a place, by default in its own folder, and make its owner. `packages`: further modules for it."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}"
        (folder / "configuration.yaml").write_text(CONFIGURATION.format(port=port) + configuration)
        (folder / ".storage").mkdir(exist_ok=True)
        (folder / ".storage/onboarding").write_text(json.dumps(ONBOARDING))
        self.log = folder / "log"
        environment = {**os.environ, "PYTHONPATH": packages and os.path.abspath(packages), "HOME": str(folder)}
        words = [sys.executable, "-B", "-m", "homeassistant"]
        make_owner = [*words, "--script", "auth", "--config", str(folder), "add", OWNER, OWNER]
        subprocess.run(make_owner, env=environment, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=True)
        with self.log.open("wb") as log:
            self._process = subprocess.Popen(
                [*words, "--config", str(folder), "--skip-pip"],
                env=environment,
                cwd=place or folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self._token = ""
        try:
            self._wait()
            self.tokens = self._log_in()
        except BaseException:
            self.close()
            raise
        self._token = self.tokens["access_token"]

    def _log_in(self) -> dict[str, Any]:
        """Return the tokens of the owner, as the page of the login gets them."""
        client = f"{self.address}/"
        start = {"client_id": client, "handler": ["homeassistant", None], "redirect_uri": client}
        flow = self.ask("/auth/login_flow", start)["flow_id"]
        code = self.ask(f"/auth/login_flow/{flow}", {"client_id": client, "username": OWNER, "password": OWNER})["result"]
        form = {"grant_type": "authorization_code", "code": code, "client_id": client}
        tokens: dict[str, Any] = self.ask("/auth/token", urllib.parse.urlencode(form).encode())
        return tokens

    def _wait(self) -> None:
        """Wait for its first answer. Other threads and processes run meanwhile."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                self.ask("/auth/providers")
            except OSError as error:
                has_failed = "recovery mode" in self.log.read_text() or self._process.poll() is not None
                if has_failed or time.monotonic() > end:
                    raise AssertionError(f"Home Assistant did not start: {error}\n{self.log.read_text()}") from error
                time.sleep(0.05)
            else:
                return

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()

    def load(self, path: str, data: Any = None) -> bytes:
        """Return the bytes of an answer."""
        body = data if data is None or isinstance(data, bytes) else json.dumps(data).encode()
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        if not isinstance(data, bytes):
            headers["Content-Type"] = "application/json"
        with urllib.request.urlopen(urllib.request.Request(self.address + path, body, headers), timeout=60) as answer:
            return bytes(answer.read())

    def ask(self, path: str, data: Any = None) -> Any:
        """Return an answer that is JSON."""
        return json.loads(self.load(path, data))
