"""Pictures of Home Assistant's own cards beside a real box, for docs/.

usage: pictures.py PROGRAMS PACKAGES FOLDER    PACKAGES: a folder with Home Assistant's frontend and the other packages that
Scripts/test-homeassistant puts there; FOLDER: the pictures go there
"""

from __future__ import annotations

import json
import pathlib
import shutil
import sys
import tempfile
import time
from typing import Any

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "Tests/Page"))

from browser import Browser, Refused, Tab  # noqa: E402
from home import Home  # noqa: E402
from house import House  # noqa: E402

CONFIGURATION = """
frontend:
lovelace:
  mode: yaml
media_source:
"""

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


class PictureHome(Home):
    """A Home Assistant with the integration, a box, and a dashboard."""

    def __init__(self, folder: pathlib.Path, packages: str, port_of_box: int) -> None:
        """Start it and make its owner."""
        (folder / ".storage").mkdir(parents=True)
        (folder / "ui-lovelace.yaml").write_text(DASHBOARD)
        (folder / ".storage/core.config_entries").write_text(json.dumps(entries(port_of_box)))
        shutil.copytree(ROOT / "custom_components", folder / "custom_components")
        super().__init__(folder, CONFIGURATION, packages)

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


def make(house: House, home: PictureHome, browser: Browser, folder: pathlib.Path) -> None:
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
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = pathlib.Path(name)
        browser = Browser(folder / "browser")
        try:
            (folder / "box").mkdir()
            house = House(programs, str(folder / "box"), browser)
            try:
                home = PictureHome(folder / "home", packages, house.port)
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
