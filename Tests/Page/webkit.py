"""The page in WebKit, the nearest relative of Safari: its main controls against a real daemon."""

import json
import os
import pathlib
import shutil
import subprocess
import urllib.error
import urllib.request

import heard
import pictures
from browser import NotTested, Refused, until
from controls import state
from proxies import free_port, running

ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class WebKit:
    """A browser behind WebKitWebDriver, by the protocol of W3C WebDriver."""

    def __init__(self, port):
        self.root = f"http://127.0.0.1:{port}"
        browser = next(pathlib.Path("/usr/lib").glob("*/webkit2gtk-4*/MiniBrowser"))
        options = {"webkitgtk:browserOptions": {"binary": str(browser), "args": ["--automation"]}}
        until(lambda: self.ask("GET", "/status")["ready"], "WebKitWebDriver")
        made = self.ask("POST", "/session", capabilities={"alwaysMatch": options})
        self.root += f"/session/{made['sessionId']}"

    def ask(self, method, path, **body):
        data = json.dumps(body).encode() if method == "POST" else None
        request = urllib.request.Request(self.root + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise Refused(f"{path}: {json.load(error)['value']['message']}") from error

    def go(self, address):
        self.ask("POST", "/url", url=address)

    def run(self, script):
        return self.ask("POST", "/execute/sync", script=f"return ({script})", args=[])

    def until(self, script):
        return until(lambda: self.run(script), script)

    def find(self, selector):
        return self.ask("POST", "/element", using="css selector", value=selector)[ELEMENT]

    def click(self, selector):
        """A real click, when the control accepts one."""
        self.until(f"(() => {{ const one = document.querySelector({selector!r}); return one !== null && !one.disabled; }})()")
        self.ask("POST", f"/element/{self.find(selector)}/click")

    def keys(self, selector, text):
        """Keys by their codes of WebDriver, or by a name."""
        self.ask("POST", f"/element/{self.find(selector)}/value", text={"Home": "\ue011"}.get(text, text))

    def close(self):
        self.ask("DELETE", "")


def test_webkit(house):
    """Transport, seek, volume, modes, like, the queue, the library, and changes by other clients."""
    if shutil.which("WebKitWebDriver") is None or shutil.which("Xvfb") is None:
        raise NotTested("WebKitWebDriver or Xvfb is not installed")
    port = free_port()
    reading, writing = os.pipe()
    options = {"pass_fds": (writing,)}
    with running(house, "Xvfb", "-displayfd", writing, "-screen", "0", "1280x900x24", "-nolisten", "tcp", "-noreset", "-ac", **options):
        os.close(writing)
        # Xvfb ends if no program reads the end of the line.
        with os.fdopen(reading) as line:
            display = line.readline().strip()
        house.environment |= {"DISPLAY": f":{display}", "WEBKIT_DISABLE_SANDBOX_THIS_IS_DANGEROUS": "1", "GDK_BACKEND": "x11"}
        with running(house, "WebKitWebDriver", f"--port={port}"):
            browser = WebKit(port)
            try:
                controls(house, browser)
                house.fresh().call("play", index=1)
                pictures.look(house, browser)
                with heard.sounding(house) as sound:
                    far, missed = heard.listen(house, browser, sound)
                assert far <= 0.005 and missed <= 0.005, (far, missed)
            finally:
                browser.close()


def controls(house, browser):
    house.fresh().call("play", index=1)
    browser.go(f"{house.address}/")
    browser.until("document.querySelector('h1.title')?.textContent === 'Slow Ferry'")
    browser.click(".play-button")
    state(house, "state", "paused")
    browser.until("document.querySelector('.play-button').ariaLabel === 'Play'")
    browser.click(".play-button")
    state(house, "state", "playing")
    browser.click("[aria-label='Next']")
    state(house, "item.title", "Salt on Glass")
    browser.until("document.querySelector('h1.title').textContent === 'Salt on Glass'")
    browser.click("[aria-label='Previous']")
    state(house, "item.title", "Slow Ferry")
    house.call("pause")
    browser.until("document.querySelector('h1.title').textContent === 'Slow Ferry'")
    browser.until("document.querySelector('.play-button').ariaLabel === 'Play'")
    duration = house.state["item"]["duration"]
    browser.click(".scrub-range")
    until(lambda: abs(house.state["anchor"]["elapsed"] - duration / 2) < duration / 50, "the middle of the item")
    # The right key.
    before = house.state["anchor"]["elapsed"]
    browser.keys(".scrub-range", "\ue014")
    until(lambda: abs(house.state["anchor"]["elapsed"] - before - 5) < 0.1, "a step by a key")
    browser.click(".volume-range")
    until(lambda: abs(house.state["volume"] - 0.5) < 0.03, "half of the volume")
    browser.click(".volume .icon-button")
    state(house, "muted", True)
    browser.click(".volume .icon-button")
    state(house, "muted", False)
    browser.click("[aria-label^='Shuffle']")
    state(house, "shuffleMode", "items")
    browser.click("[aria-label^='Repeat']")
    state(house, "repeatMode", "all")
    browser.click(".like")
    state(house, "item.isLiked", True)
    house.call("like", active=False)
    house.call("changeShuffleMode", mode="off")
    # The position is that of the daemon.
    house.call("play")
    browser.until("document.querySelector('.play-button').ariaLabel === 'Pause'")
    house.call("pause")
    house.call("changePlaybackPosition", position=90)
    browser.until("document.querySelector('.scrub-range').ariaValueText?.startsWith('1 minute, 30 seconds of 4 minutes')")
    for view, selector in (("queue", "main .item-title"), ("library/albums", "main .tile, main a[href*=album]"), ("sessions", "main .item-title")):
        browser.run(f"void (location.hash = '#/{view}')")
        browser.until(f"document.querySelector('{selector}')?.textContent.length > 0")
    browser.run("void (location.hash = '#/')")
    browser.until("document.querySelector('.play-button') !== null")
    # The bridge ends and returns.
    house.end(house.web)
    browser.until("document.body.matches('.is-stale')")
    house.begin_web(house.port)
    browser.until("!document.body.matches('.is-stale')")
