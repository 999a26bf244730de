"""Browsers without a user of this machine: pairing, devices; and announcements by a text."""

import contextlib
import wave

from browser import until
from controls import begin, state
from proxies import free_port


@contextlib.contextmanager
def bridge(house, more):
    """nowplaying-web with other settings."""
    house.end(house.web)
    house.begin_web(house.port, more=more)
    try:
        yield
    finally:
        house.end(house.web)
        house.begin_web(house.port)


def fill(tab, selector, text):
    tab.click(selector)
    tab.run(f"document.querySelector({selector!r}).select()")
    tab.type(text)


def choice(tab, text):
    tab.until("document.querySelector('dialog[open] .choice') !== null")
    tab.run(f"[...document.querySelectorAll('dialog[open] .choice')].find((one) => one.textContent.includes({text!r})).click()")


def test_pairing(house, browser):
    """A browser without rights asks for the code, gets rights, and loses them at once when it is revoked."""
    port = free_port()
    with bridge(house, f"proxy-bind = localhost:{port}\naddress = http://localhost:{port}\n"):
        house.fresh().call("play", index=1)
        address = f"http://localhost:{port}/"
        tab = browser.tab(address)
        tab.until("document.querySelector('.pairing #code') !== null")
        code = house.web_call("pair.begin", role="control")["code"]
        fill(tab, "#code", "1" + code[1:] if code[0] != "1" else "2" + code[1:])
        tab.click(".pairing .primary")
        tab.until("!document.querySelector('.pairing [role=alert]').hidden")
        fill(tab, "#code", code)
        fill(tab, "#device-name", "<b>Kitchen</b>")
        tab.click(".pairing .primary")
        tab.until("document.querySelector('h1.title')?.textContent === 'Slow Ferry'")
        tab.click(".play-button")
        state(house, "state", "paused")
        # No script can read the token.
        assert tab.run("document.cookie") == ""
        assert not tab.run("JSON.stringify({ ...localStorage, ...sessionStorage })").count(code)
        assert [one["name"] for one in house.web_call("devices.list")["devices"]] == ["<b>Kitchen</b>"]

        # The QR code's address pairs a device that may read; the code leaves the address.
        code = house.web_call("pair.begin", role="read")["code"]
        other = browser.tab(f"http://127.0.0.1:{port}/#{code}")
        other.until(f"document.querySelector('#code')?.value === {code!r} && location.hash === ''")
        other.click(".pairing .primary")
        other.until("document.querySelector('h1.title')?.textContent === 'Slow Ferry'")
        other.until("document.querySelector('.play-button').disabled")
        other.run("void (location.hash = '#/devices')")
        other.until("document.querySelectorAll('main .session').length === 1")
        other.close()

        # The device sees only itself, and revokes itself.
        tab.run("void (location.hash = '#/devices')")
        tab.until("document.querySelector('main .session h2')?.textContent === '<b>Kitchen</b>'")
        assert tab.run("document.querySelectorAll('main .session').length") == 1
        tab.click("main .session .secondary")
        choice(tab, "Revoke")
        tab.until("document.querySelector('.pairing #code') !== null")
        until(lambda: len(house.web_call("devices.list")["devices"]) == 1, "one device")
        tab.close()

        # The user of this machine sees all.
        own = begin(house, browser)
        own.run("void (location.hash = '#/devices')")
        own.until("document.querySelectorAll('main .session').length === 1")
        own.click("main .session .secondary")
        choice(own, "Revoke")
        own.until("document.querySelector('main .session') === null")
        assert house.web_call("devices.list")["devices"] == []
        own.close()


def test_remote(house, browser):
    """The role `remote` has remote commands and the volume, of every session, but neither queue nor sessions nor timers."""
    tab = begin(house, browser)
    disabled = lambda selector: f"document.querySelector({selector!r}).disabled"
    tab.run("import(document.querySelector('[href*=main]').href).then(({ app }) => (window.app = app)).then(() => 0)")
    # The connection reduces its own rights in the bridge, and the page asks for its role again.
    assert tab.run("app.player.call('hello', { role: 'remote' }).then(() => app.player.opened()).then(() => app.player.role)") == "remote"
    tab.until(disabled("[aria-label='Sleep timer']"))
    assert not tab.run(disabled(".volume button")) and not tab.run(disabled(".volume-range"))
    tab.click(".volume-range")
    until(lambda: abs(house.state["volume"] - 0.5) < 0.03, "half of the volume")
    tab.click(".volume button")
    state(house, "muted", True)
    tab.until("document.querySelector('.volume.is-muted') !== null")
    tab.click(".play-button")
    state(house, "state", "paused")
    tab.run("void (location.hash = '#/queue')")
    tab.until("document.querySelector('.item .item-main')?.disabled")
    tab.run("void (location.hash = '#/sessions')")
    tab.until("document.querySelector('[data-key=\"main volume\"]')?.disabled === false")
    tab.click("[data-key='main volume']")
    tab.click("[data-key='main play']")
    state(house, "state", "playing")
    house.call("volume.set", volume=1, muted=False)
    assert not tab.problems(), tab.problems()
    tab.close()


def test_speech(house, browser):
    """The field for a text is there if a program can speak it. The page announces its words, and shows failures."""
    tab = begin(house, browser)
    tab.run("void (location.hash = '#/announce')")
    tab.until("document.querySelector('#sound') !== null")
    assert tab.run("document.querySelector('#speech').form.hidden")
    tab.close()
    sound, script = house.folder / "voice.wav", house.folder / "speak.sh"
    with wave.open(str(sound), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(bytes(3200))
    script.write_text('[ "$(cat)" = "Dinner, \u665a\u996d" ] && cat "$1"\n')
    with bridge(house, f"speech = /bin/sh {script} {sound}\n"):
        tab = begin(house, browser)
        tab.run("void (location.hash = '#/announce')")
        tab.until("document.querySelector('#speech')?.form.hidden === false && !document.querySelector('#speech').disabled")
        shown = "document.querySelector('main [role=status]').textContent"
        fill(tab, "#speech", "Another text")
        tab.click("form.stack .primary")
        tab.until(f"{shown} !== '' && !document.querySelector('main [role=status]').hidden")
        tab.until(f"{shown} .includes('made no sound')")
        fill(tab, "#speech", "Dinner, \u665a\u996d")
        tab.click("form.stack .primary")
        tab.until(f"{shown} === 'The announcement has played.'")
        assert tab.run("document.querySelector('#speech').value") == ""
        tab.close()


def test_volume_drag(house, browser):
    """A drag of the volume that ends where it began leaves the slider to the daemon."""
    tab = begin(house, browser)
    tab.until("document.querySelector('.volume-range').disabled === false")
    tab.click(".volume-range")
    until(lambda: abs(house.state["volume"] - 0.5) < 0.03, "half of the volume")
    x, y = tab.run(
        "(() => { const r = document.querySelector('.volume-range').getBoundingClientRect(); return [r.x + r.width / 2, r.y + "
        "r.height / 2]; })()"
    )
    sent = lambda: [text for text in tab.sent() if '"volume.set"' in text]
    count = len(sent())
    mouse = lambda kind, x: tab.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1)
    mouse("mousePressed", x)
    mouse("mouseMoved", x + 40)
    mouse("mouseMoved", x)
    mouse("mouseReleased", x)
    # The page may leave out the middle of the drag, but not its end.
    until(lambda: len(sent()) > count and '"volume":0.5' in sent()[-1], "the drag")
    volume = "import(document.querySelector('[href*=main]').href).then(({ app }) => app.player.call('nowPlaying.get', {})).then((one) => one.volume)"
    assert tab.run(volume) == 0.5
    house.call("volume.set", volume=0.9)
    tab.until("document.querySelector('.volume-range').value === '0.9'")
    tab.close()
