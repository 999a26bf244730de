"""A headless Chromium, driven by its debugging protocol over a pipe."""

import base64
import contextlib
import json
import os
import queue
import subprocess
import threading
import time

PATIENCE = 20


def until(condition, what, seconds=PATIENCE):
    """The first true value of a condition."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with contextlib.suppress(OSError, Refused):
            if value := condition():
                return value
        time.sleep(0.02)
    raise AssertionError(f"this did not come: {what}")


class NotTested(Exception):
    """A test that cannot run here, and the reason."""


class Refused(Exception):
    """The browser refused a command, or a script failed."""


class Browser:
    """One process; each tab is a target of its own."""

    def __init__(self, folder, *flags):
        (ours, theirs), (their_answers, answers) = os.pipe(), os.pipe()
        # The browser reads commands at descriptor 3 and writes answers at 4.
        line = 'exec 3<&"$0" 4>&"$1"; shift; exec chromium "$@"'
        words = [
            "--headless=new",
            "--remote-debugging-pipe",
            f"--user-data-dir={folder}",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--mute-audio",
            "--hide-scrollbars",
            "--lang=en",
            "--disable-features=Translate,MediaRouter",
            *(["--no-sandbox"] if os.getuid() == 0 else []),
            *flags,
            "about:blank",
        ]
        self.process = subprocess.Popen(
            ["bash", "-c", line, str(ours), str(answers), *words],
            pass_fds=(ours, answers),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(ours)
        os.close(answers)
        self.commands, self.answers = os.fdopen(theirs, "wb", 0), os.fdopen(their_answers, "rb", 0)
        self.lock, self.last, self.waiting, self.tabs = threading.Lock(), 0, {}, {}
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        data = b""
        while chunk := self.answers.read(1 << 20):
            data += chunk
            *messages, data = data.split(b"\0")
            for text in messages:
                message = json.loads(text)
                if "id" in message:
                    self.waiting.pop(message["id"]).put(message)
                elif tab := self.tabs.get(message.get("sessionId")):
                    tab.events.append(message)

    def send(self, method, params=None, session=None):
        answer = queue.Queue()
        with self.lock:
            self.last += 1
            number = self.last
            self.waiting[number] = answer
            text = {"id": number, "method": method, "params": params or {}} | ({"sessionId": session} if session else {})
            self.commands.write(json.dumps(text).encode() + b"\0")
        message = answer.get(timeout=90)
        if "error" in message:
            raise Refused(f"{method}: {message['error']['message']}")
        return message["result"]

    def tab(self, address="about:blank", **looks):
        target = self.send("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.send("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        tab = Tab(self, target, session)
        self.tabs[session] = tab
        for domain in ("Page", "Runtime", "Network", "Log"):
            tab.send(f"{domain}.enable")
        # Durations of processor time: a task that waits for a processor beside other tests is no longer one.
        tab.send("Performance.enable", timeDomain="threadTicks")
        tab.look(**looks)
        if address != "about:blank":
            tab.go(address)
        return tab

    def close(self):
        self.process.kill()
        self.process.wait()


class Tab:
    """A page of the browser, and the events of it so far."""

    def __init__(self, browser, target, session):
        self.browser, self.target, self.session, self.events = browser, target, session, []

    def send(self, method, **params):
        return self.browser.send(method, params, self.session)

    def look(self, width=1280, height=800, scale=1, dark=True, motion=True, mobile=False):
        """Emulates a size, colours and a preference about motion."""
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=mobile)
        self.send(
            "Emulation.setEmulatedMedia",
            features=[
                {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
                {"name": "prefers-reduced-motion", "value": "no-preference" if motion else "reduce"},
            ],
        )

    def go(self, address):
        self.send("Page.navigate", url=address)

    def run(self, script, gesture=False):
        """The value of a script; it may be a promise."""
        answer = self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True, userGesture=gesture)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise Refused(details.get("exception", {}).get("description") or details["text"])
        return answer["result"].get("value")

    def until(self, script, seconds=PATIENCE):
        return until(lambda: self.run(script), script, seconds)

    def click(self, selector):
        """A real click in the middle of an element, as by a person."""
        self.until(
            f"(() => {{ const e = document.querySelector({selector!r}); return e && !e.disabled && e.getClientRects().length "
            f"> 0 && (e.closest('dialog')?.getAnimations() ?? []).every((one) => one.playState === 'finished'); }})()"
        )
        place = self.run(
            f"""(() => {{ const e = document.querySelector({selector!r});
            e.scrollIntoView({{block: "center", behavior: "instant"}});
            const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }})()"""
        )
        self.press(*place)

    def press(self, x, y, to=None, steps=8):
        """The left button down at a place, and up there or at another."""
        mouse = lambda kind, x, y: self.send(
            "Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1
        )
        mouse("mousePressed", x, y)
        for step in range(1, steps + 1) if to else ():
            mouse("mouseMoved", x + (to[0] - x) * step / steps, y + (to[1] - y) * step / steps)
        mouse("mouseReleased", *(to or (x, y)))

    def key(self, key, code=0, text=""):
        for kind in ("keyDown", "keyUp"):
            self.send(
                "Input.dispatchKeyEvent",
                type=kind,
                key=key,
                code=key,
                windowsVirtualKeyCode=code,
                text=text if kind == "keyDown" else "",
            )

    def type(self, text):
        self.send("Input.insertText", text=text)

    def picture(self, path, kind="png"):
        data = self.send("Page.captureScreenshot", format=kind, **({"quality": 90} if kind == "jpeg" else {}))["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def metric(self, name):
        return next(one["value"] for one in self.send("Performance.getMetrics")["metrics"] if one["name"] == name)

    def requests(self):
        """Addresses that the page has requested."""
        return [
            event["params"]["request"]["url"] for event in list(self.events) if event["method"] == "Network.requestWillBeSent"
        ]

    def sent(self):
        """Texts that the page has sent by its WebSocket."""
        return [
            event["params"]["response"]["payloadData"]
            for event in list(self.events)
            if event["method"] == "Network.webSocketFrameSent"
        ]

    def problems(self):
        """Errors of scripts, and complaints of the browser."""
        found = []
        for event in list(self.events):
            if event["method"] == "Runtime.exceptionThrown":
                details = event["params"]["exceptionDetails"]
                found.append(details.get("exception", {}).get("description", details["text"]))
            elif event["method"] == "Log.entryAdded" and event["params"]["entry"]["level"] == "error":
                found.append(f'{event["params"]["entry"]["text"]} {event["params"]["entry"].get("url", "")}')
        return found

    def hide(self, is_hidden):
        """Another tab comes to the front, or this one does."""
        if is_hidden:
            self.other = self.browser.send("Target.createTarget", {"url": "about:blank"})["targetId"]
            self.browser.send("Target.activateTarget", {"targetId": self.other})
        else:
            self.browser.send("Target.activateTarget", {"targetId": self.target})
            self.browser.send("Target.closeTarget", {"targetId": self.other})

    def close(self):
        self.browser.send("Target.closeTarget", {"targetId": self.target})
