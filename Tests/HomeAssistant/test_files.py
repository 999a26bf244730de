"""The files of the integration that are no code: they fit each other and the code. Home Assistant's own checker is no package."""

from __future__ import annotations

import json
import pathlib
import re
import struct
import subprocess
from typing import Any
import zipfile

from custom_components.nowplayingd import button, device_trigger, event, number, sensor, switch
from custom_components.nowplayingd.const import DOMAIN, POLICIES, POLICY_OF_BOX
from custom_components.nowplayingd.media_player import SOUND_MODES
from custom_components.nowplayingd.services import SCHEMAS
from homeassistant.util.yaml import load_yaml, parse_yaml
import pytest
import voluptuous as vol

ROOT = pathlib.Path(__file__).parents[2]
PACKAGE = ROOT / "custom_components/nowplayingd"
LANGUAGES = ("de", "en", "es", "fr", "ja")
PLACEHOLDER = re.compile(r"{\w+}")
QUOTED_PLACEHOLDER = re.compile(r"'{\w+}'")
KEY = re.compile(r"[a-z0-9]+(_[a-z0-9]+)*")


def read(name: str) -> Any:
    return json.loads((PACKAGE / name).read_text())


def leaves(node: Any, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], str]:
    """Return all texts by their paths."""
    if isinstance(node, str):
        return {path: node}
    return {key: text for name, child in node.items() for key, text in leaves(child, (*path, name)).items()}


def test_manifest() -> None:
    """The manifest has the version of the product, and its keys in the usual order."""
    manifest = read("manifest.json")
    version = re.search(r'static let version = "(.*)"', (ROOT / "Sources/NowPlaying/Product.swift").read_text())
    assert version is not None and manifest["version"] == version[1]
    assert manifest["domain"] == DOMAIN == PACKAGE.name
    assert list(manifest)[:2] == ["domain", "name"] and list(manifest)[2:] == sorted(list(manifest)[2:])
    assert manifest["requirements"] == [] and manifest["iot_class"] == "local_push"


def test_layout_for_hacs() -> None:
    """HACS reads hacs.json, the manifest and the icon in a repository, each as a file that is no link."""
    assert [one.name for one in (ROOT / "custom_components").iterdir() if one.name != "__pycache__"] == [DOMAIN]
    for path in (ROOT / "hacs.json", PACKAGE, PACKAGE / "manifest.json", PACKAGE / "brand/icon.png"):
        assert path.exists() and not path.is_symlink()
    settings = json.loads((ROOT / "hacs.json").read_text())
    assert (settings["name"], settings["filename"], settings["zip_release"]) == (DOMAIN, f"{DOMAIN}.zip", True)
    assert settings["homeassistant"] in (ROOT / "docs/home-assistant.md").read_text()
    for name, size in (("icon.png", 256), ("icon@2x.png", 512)):
        assert struct.unpack(">II", (PACKAGE / "brand" / name).read_bytes()[16:24]) == (size, size)
    # The folder of samples has it, too: `make install` copies that.
    assert (ROOT / "etc/homeassistant/custom_components" / DOMAIN).samefile(PACKAGE)


def test_archive_for_hacs(tmp_path: pathlib.Path) -> None:
    """The archive of a release has all files of the integration at its top, and the addresses of the repository."""
    address = "https://github.com/you/box.of-music"
    script, file = ROOT / "Scripts/homeassistant-zip", tmp_path / "new/nowplayingd.zip"
    assert subprocess.run([script, f"{address}/", file], capture_output=True, check=True).stdout.decode().strip() == str(file)
    with zipfile.ZipFile(file) as archive:
        archive.extractall(tmp_path / DOMAIN)
    files = {one.relative_to(PACKAGE) for one in PACKAGE.rglob("*") if one.is_file() and "__pycache__" not in one.parts}
    extracted = {one.relative_to(tmp_path / DOMAIN) for one in (tmp_path / DOMAIN).rglob("*") if one.is_file()}
    assert extracted == files
    for name in files - {pathlib.Path("manifest.json")}:
        assert (tmp_path / DOMAIN / name).read_bytes() == (PACKAGE / name).read_bytes()
    manifest = json.loads((tmp_path / DOMAIN / "manifest.json").read_text())
    assert manifest["documentation"] == f"{address}/blob/HEAD/docs/home-assistant.md"
    assert manifest["issue_tracker"] == f"{address}/issues"
    # A quality scale needs an owner.
    assert manifest["codeowners"] == ["@you"]
    own = dict.fromkeys(("documentation", "issue_tracker", "codeowners"))
    assert {**manifest, **own} == {**read("manifest.json"), **own}
    for wrong in ("", "you/box", "https://x/|y", "https://github.com/you"):
        assert subprocess.run([script, wrong, file], capture_output=True).returncode == 2


@pytest.mark.parametrize("language", LANGUAGES)
def test_translations(language: str) -> None:
    """Each language has the same texts, with the same placeholders."""
    assert sorted(one.stem for one in (PACKAGE / "translations").iterdir()) == sorted(LANGUAGES)
    english, found = leaves(read("translations/en.json")), leaves(read(f"translations/{language}.json"))
    assert found.keys() == english.keys()
    for path, text in found.items():
        assert text.strip() == text and text, path
        assert KEY.fullmatch(path[-1]) and "://" not in text and not QUOTED_PLACEHOLDER.search(text), path
        assert sorted(PLACEHOLDER.findall(text)) == sorted(PLACEHOLDER.findall(english[path])), path
        assert "<" not in text, path


def test_words_for_everything() -> None:
    """All entities, services, triggers, errors and choices have words and icons."""
    words, icons = read("translations/en.json"), read("icons.json")
    tables = {"number": number.NUMBERS, "switch": switch.SWITCHES, "button": button.BUTTONS, "sensor": sensor.SENSORS}
    for platform, table in tables.items():
        keys = {one.translation_key for one in table}
        assert words["entity"][platform].keys() == keys == icons["entity"][platform].keys()
    events = words["entity"]["event"]["key_event"]["state_attributes"]["event_type"]["state"]
    assert events.keys() == {*event.EVENTS.values(), event.ANNOUNCEMENT}
    modes = words["entity"]["media_player"]["player"]["state_attributes"]["sound_mode"]["state"]
    assert list(modes) == SOUND_MODES
    assert list(words["device_automation"]["trigger_type"]) == device_trigger.TYPES
    assert words["selector"]["policy"]["options"].keys() == {POLICY_OF_BOX, *POLICIES}
    services = load_yaml(str(PACKAGE / "services.yaml"))
    assert words["services"].keys() == services.keys() == SCHEMAS.keys() == icons["services"].keys()
    for name, schema in SCHEMAS.items():
        fields = {str(key) for key in schema}
        assert words["services"][name]["fields"].keys() == services[name]["fields"].keys() == fields
    code = "".join(path.read_text() for path in PACKAGE.glob("*.py"))
    used = set(re.findall(r'translation_key="(\w+)"', code)) | set(re.findall(r'_invalid\(\s*"(\w+)"', code))
    assert words["exceptions"].keys() <= used
    assert {key for key in used if key in ("refused", "unreachable", "not_ready", "no_output")} <= words["exceptions"].keys()


def test_quality_scale() -> None:
    """Each rule is done, or exempt with its reason. Home Assistant 2026.11 has 54 rules."""
    rules = load_yaml(str(PACKAGE / "quality_scale.yaml"))["rules"]
    assert len(rules) == 54 and read("manifest.json")["quality_scale"] == "platinum"
    for name, state in rules.items():
        assert state == "done" or (state["status"] == "exempt" and len(state["comment"]) > 20), name


def test_documented_calls() -> None:
    """The calls in the document pass the schemas of the services."""
    document = (ROOT / "docs/home-assistant.md").read_text()
    calls = [parse_yaml(block) for block in re.findall(r"```text\n(service: .*?)```", document, re.DOTALL)]
    assert calls
    for call in calls:
        domain, name = call["service"].split(".")
        assert domain == DOMAIN
        vol.Schema(SCHEMAS[name])(call["data"])
    for name in SCHEMAS:
        assert f"`{DOMAIN}.{name}`" in document


def test_no_long_files() -> None:
    """The modules are small."""
    for path in PACKAGE.rglob("*.py"):
        assert len(path.read_text().splitlines()) <= 400, path
