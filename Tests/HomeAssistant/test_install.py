"""The installation: a Home Assistant in a process of its own, as a person sets it up, from the file to the first card."""

from __future__ import annotations

import asyncio
import json
import pathlib
import subprocess
from typing import Any
import zipfile

from conftest import DOMAIN, allow_sockets
from home import Home
from house import House, until
import pytest
from remote import Remote

ROOT = pathlib.Path(__file__).parents[2]
PACKAGE = ROOT / "custom_components" / DOMAIN
CONFIGURATION = "frontend:\nconfig:\napi:\nmedia_source:\n"
PLAYER = "media_player.127_0_0_1"


def without_frontend(place: pathlib.Path) -> None:
    """Put an empty component in the place of the frontend, which Home Assistant insists on: its files are another package."""
    folder = place / "custom_components/frontend"
    folder.mkdir(parents=True)
    facts = {"domain": "frontend", "name": "Frontend", "version": "1.0.0", "dependencies": ["http"], "codeowners": []}
    (folder / "manifest.json").write_text(json.dumps({**facts, "documentation": "https://example.org/", "requirements": []}))
    (folder / "__init__.py").write_text("async def async_setup(hass, config):\n    return True\n")


def unpack(configuration: pathlib.Path) -> None:
    """Install the integration as HACS does: the archive of a release, unpacked."""
    file = configuration.parent / "nowplayingd.zip"
    subprocess.run([ROOT / "Scripts/homeassistant-zip", "https://github.com/you/music", file], capture_output=True, check=True)
    with zipfile.ZipFile(file) as archive:
        archive.extractall(configuration / "custom_components" / DOMAIN)


def add_box(home: Home, house: House, port: int) -> dict[str, Any]:
    """Add a box by its address and a pairing code, as the forms of the frontend do."""
    flows = "/api/config/config_entries/flow"
    form = home.ask(flows, {"handler": DOMAIN, "show_advanced_options": False})
    assert (form["type"], form["step_id"], form["errors"]) == ("form", "user", {})
    assert [one["name"] for one in form["data_schema"]] == ["host", "port", "path", "tls", "verify_ssl"]
    flow = f"{flows}/{form['flow_id']}"
    form = home.ask(flow, {"host": "127.0.0.1", "port": port, "tls": False, "verify_ssl": True})
    assert (form["step_id"], form["description_placeholders"]["command"]) == ("pair", "nowplayingctl pair")
    form = home.ask(flow, {"code": "00000000"})
    assert form["errors"] == {"base": "invalid_code"}
    made: dict[str, Any] = home.ask(flow, {"code": house.code()})
    return made


def use_box(home: Home, house: House, port: int) -> None:
    """Set a box up, and play: the card has title, picture, duration and position."""

    def shown(word: str, *names: str) -> dict[str, Any]:
        """Wait for a state of the player that has these attributes, and return all of them."""

        def look() -> dict[str, Any] | None:
            state = home.ask(f"/api/states/{PLAYER}")
            return state["attributes"] if state["state"] == word and {*names} <= state["attributes"].keys() else None

        return dict(until(look, f"{word}, {names}"))

    assert add_box(home, house, port)["type"] == "create_entry"
    shown("idle")
    home.ask("/api/services/media_player/media_play", {"entity_id": PLAYER})
    # The titles and pictures of files are read after the play.
    attributes = shown("playing", "media_title", "media_duration", "entity_picture")
    assert (attributes["media_title"], attributes["media_duration"]) == ("First 1", 60)
    assert attributes["media_position"] >= 0 and attributes["media_position_updated_at"]
    assert home.load(attributes["entity_picture"]).startswith(b"\x89PNG")
    # Home Assistant warns of each custom integration, and about packages that other components lack.
    lines = [line for line in home.log.read_text().splitlines() if DOMAIN in line]
    assert len(lines) == 1 and "which has not been tested by Home Assistant" in lines[0], lines


@pytest.mark.timeout(300)
@pytest.mark.parametrize("way", ["release", "copy", "repository"])
async def test_installation(house: House, tmp_path: pathlib.Path, way: str) -> None:
    """From an archive of a release, from a copy of the folder, and in the repository: the box plays, nothing is logged."""
    allow_sockets()
    configuration = tmp_path / "configuration"
    place, packages = None, ""
    match way:
        case "release":
            without_frontend(configuration)
            unpack(configuration)
        case "copy":
            without_frontend(configuration)
            target = configuration / "custom_components" / DOMAIN
            subprocess.run(["cp", "-R", ROOT / "etc/homeassistant/custom_components" / DOMAIN, target], check=True)
        case "repository":
            # The folder of the place takes the place of that of the configuration.
            configuration.mkdir()
            without_frontend(tmp_path / "more")
            place, packages = ROOT, str(tmp_path / "more")
    async with Remote(house) as remote:
        home = await asyncio.to_thread(Home, configuration, CONFIGURATION, packages, place)
        try:
            await asyncio.to_thread(use_box, home, house, remote.port)
        finally:
            home.close()
