"""axe-core in a tab: its findings about the rules of accessibility."""

import json
import os
import pathlib

from browser import NotTested

FOUND = (
    "axe.run({ resultTypes: ['violations'] }).then(({ violations }) => JSON.stringify("
    "violations.map(({ id, nodes }) => [id, nodes.map(({ html, any }) => [html.slice(0, 160), any[0]?.message])])))"
)


def load(tab):
    """Loads axe-core into a page."""
    path = os.environ.get("AXE")
    if not path:
        raise NotTested("AXE names no axe.min.js of axe-core")
    tab.run(pathlib.Path(path).read_text() + ";void 0")


def check(tab, place):
    """Fails if axe-core finds a violation in the page at rest."""
    tab.run("Promise.all(document.getAnimations().map((one) => one.finished.catch(() => {}))).then(() => undefined)")
    found = json.loads(tab.run(FOUND))
    assert found == [], f"{place}: {found}"
