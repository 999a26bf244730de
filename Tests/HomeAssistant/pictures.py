"""Pictures of Home Assistant's own cards beside a real box, for docs/.

usage: pictures.py PROGRAMS PACKAGES FOLDER    PACKAGES: a folder with Home Assistant's frontend and the other packages that
Scripts/test-homeassistant puts there; FOLDER: the pictures go there
"""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from typing import Any
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "Tests/Page"))

from browser import Browser, Refused, Tab, until  # noqa: E402
from house import House  # noqa: E402

CONFIGURATION = """
homeassistant:
  name: Home
  unit_system: metric
  time_zone: Europe/Berlin
http:
  server_host: 127.0.0.1
  server_port: {port}
frontend:
lovelace:
  mode: yaml
media_source:
logger:
  default: warning
"""

# All steps but the first one, which makes the owner: the second one sets up integrations that need the Internet.
ONBOARDING = {"version": 4, "key": "onboarding", "data": {"done": ["core_config", "analytics", "integration"]}}

DASHBOARD = """
title: Home
views:
  - title: Music
    cards:
      - type: media-control
        entity: media_player.kitchen
      - type: entities
        title: Kitchen
        entities:
          - entity: switch.kitchen_like
            name: Like
          - entity: number.kitchen_rating
            name: Rating
          - entity: number.kitchen_crossfade
            name: Crossfade
          - entity: number.kitchen_sleep_timer
            name: Sleep timer
          - entity: button.kitchen_stop_after_this_item
            name: Stop after this item
          - entity: event.kitchen_event
            name: Event
"""

# Shadow roots hide the elements of the frontend from a selector: these find all of them, or the first one, however deep.
FIND = """
window.all = (name, root = document) => [...root.querySelectorAll('*')].flatMap(
    (one) => [...(one.matches(name) ? [one] : []), ...(one.shadowRoot ? all(name, one.shadowRoot) : [])]);
window.named = (text) => all('*').find((one) => one.childElementCount === 0 && one.textContent.trim() === text);
window.deep = (name) => all(name)[0] ?? null;
void 0
"""


def entries(port: int) -> dict[str, Any]:
    """Return the setup of a box of this machine, as Home Assistant keeps it."""
    entry = {
        "entry_id": "kitchen",
        "version": 1,
        "minor_version": 1,
        "domain": "nowplayingd",
        "title": "Kitchen",
        "data": {"host": "127.0.0.1", "port": port, "tls": False, "verify_ssl": True},
        "options": {},
        "pref_disable_new_entities": False,
        "pref_disable_polling": False,
        "source": "user",
        "unique_id": None,
        "disabled_by": None,
    }
    return {"version": 1, "minor_version": 2, "key": "core.config_entries", "data": {"entries": [entry]}}


class Home:
    """A Home Assistant with the integration, a box, an owner, and a dashboard."""

    def __init__(self, folder: pathlib.Path, packages: str, port_of_box: int) -> None:
        """Start it and make its owner."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}"
        folder.mkdir()
        (folder / "configuration.yaml").write_text(CONFIGURATION.format(port=port))
        (folder / "ui-lovelace.yaml").write_text(DASHBOARD)
        (folder / ".storage").mkdir()
        (folder / ".storage/onboarding").write_text(json.dumps(ONBOARDING))
        (folder / ".storage/core.config_entries").write_text(json.dumps(entries(port_of_box)))
        shutil.copytree(ROOT / "etc/homeassistant/custom_components", folder / "custom_components")
        log = open(folder / "log", "wb")
        words = [sys.executable, "-B", "-m", "homeassistant", "--config", str(folder), "--skip-pip"]
        environment = {**os.environ, "PYTHONPATH": os.path.abspath(packages), "HOME": str(folder)}
        self._process = subprocess.Popen(words, env=environment, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        log.close()
        self._token = ""
        self.tokens: dict[str, Any] = {}
        until(lambda: self.ask("/api/onboarding"), "Home Assistant", 60)
        owner = {"name": "Ada", "username": "ada", "password": "ada", "language": "en", "client_id": f"{self.address}/"}
        code = self.ask("/api/onboarding/users", owner)["auth_code"]
        form = {"grant_type": "authorization_code", "code": code, "client_id": f"{self.address}/"}
        self.tokens = self.ask("/auth/token", urllib.parse.urlencode(form).encode())
        self._token = self.tokens["access_token"]

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()

    def ask(self, path: str, data: Any = None) -> Any:
        """Return the answer to a request."""
        body = data if data is None or isinstance(data, bytes) else json.dumps(data).encode()
        headers = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        if not isinstance(data, bytes):
            headers["Content-Type"] = "application/json"
        with urllib.request.urlopen(urllib.request.Request(self.address + path, body, headers), timeout=60) as answer:
            return json.load(answer)

    def open(self, browser: Browser, path: str, **looks: Any) -> Tab:
        """Open a page as the owner."""
        tab = browser.tab(f"{self.address}/manifest.json", **looks)
        tab.until("document.readyState === 'complete'")
        expires = int((time.time() + self.tokens["expires_in"]) * 1000)
        kept = {**self.tokens, "hassUrl": self.address, "clientId": f"{self.address}/", "expires": expires}
        tab.run(f"void localStorage.setItem('hassTokens', {json.dumps(json.dumps(kept))})")
        tab.run("void localStorage.setItem('dockedSidebar', '\"always_hidden\"')")
        tab.go(self.address + path)
        tab.until("document.readyState === 'complete'", 60)
        tab.run(FIND)
        return tab


def settle(tab: Tab) -> None:
    """Wait until the page stands still: its fonts are there, no transition runs, and two frames were drawn."""
    tab.until("document.fonts.status === 'loaded'")
    tab.until(
        "all('*').flatMap((one) => one.getAnimations()).every((one) => "
        "!(one instanceof CSSTransition) || one.playState !== 'running')"
    )
    tab.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def make(house: House, home: Home, browser: Browser, folder: pathlib.Path) -> None:
    """Make all pictures."""
    house.fresh()
    house.call("play", index=8)
    house.call("changePlaybackPosition", position=83)
    house.call("rating", rating=4)
    tab = home.open(browser, "/lovelace/0", width=520, height=720, dark=False)
    tab.until("deep('hui-media-control-card') !== null", 60)
    tab.until("deep('hui-media-control-card').shadowRoot.querySelector('.image')?.style.backgroundImage.includes('/api/')", 60)
    # The card takes its colours from the picture.
    tab.until("deep('hui-media-control-card')._backgroundColor !== undefined")
    settle(tab)
    tab.picture(folder / "home-assistant-card.jpg", "jpeg")
    tab.close()

    tab = home.open(browser, "/media-browser/media_player.kitchen", width=900, height=640, dark=False)
    tab.until("named('Albums') !== undefined", 60)
    tab.run("void named('Albums').click()")
    tab.until("named('Night Trains') !== undefined", 60)
    tab.until("all('div').filter((one) => one.style.backgroundImage.includes('data:image')).length >= 6", 60)
    settle(tab)
    tab.picture(folder / "home-assistant-browser.jpg", "jpeg")
    tab.close()


def main() -> int:
    """Make a box, a home and a browser, and the pictures."""
    programs, packages, target = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        browser = Browser(folder / "browser")
        try:
            (folder / "box").mkdir()
            house = House(programs, str(folder / "box"), browser)
            try:
                home = Home(folder / "home", packages, house.port)
                try:
                    make(house, home, browser, pathlib.Path(target))
                except (AssertionError, Refused, OSError):
                    print((folder / "home/log").read_text()[-4000:], file=sys.stderr)
                    raise
                finally:
                    home.close()
            finally:
                house.close()
        finally:
            browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
