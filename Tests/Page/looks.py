"""Sizes, colours, directions and languages; axe-core on every view; pictures for the documents."""

import gzip
import json
import os
import re
import urllib.request

import axe
from browser import until
from controls import begin

VIEWS = [
    "",
    "queue",
    "library",
    "library/albums",
    "library/album/Tidewater/Marlow%20%26%20the%20Lamps",
    "library/folders",
    "more",
    "sessions",
    "announce",
    "devices",
]
# Parts that come with an answer of the daemon or the library.
CONTENT = {
    "queue": "main .virtual-row .item-title",
    "library": "main .tile",
    "library/albums": "main .tile",
    "sessions": "main .session",
}
LONGEST_FIRST_VIEW = 60_000


def show(tab, view):
    """Shows a view and waits until it has its content and stands still."""
    tab.run(f"void (location.hash = '#/{view}')")
    tab.until(f"document.body.dataset.view === {view.split('/')[0] or 'playing'!r}")
    tab.until("document.querySelector('main section h1') !== null")
    if content := CONTENT.get(view):
        tab.until(f"document.querySelector({content!r}) !== null")
    tab.until(
        "document.getAnimations().every((one) => one.playState !== 'running') && [...document.images].every((one) => "
        "one.hidden || one.complete || one.loading === 'lazy')"
    )
    tab.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def test_first_view(house, browser):
    """The page has at most 60 kB compressed, only from this host, in one language file, without a complaint of the browser."""
    tab = begin(house, browser)
    tab.until("document.querySelector('.still') !== null")
    requests = [one for one in tab.requests() if not one.startswith(("data:", "about:"))]
    assert all(one.startswith((house.address + "/", house.address.replace("http", "ws") + "/")) for one in requests), requests
    files = {one for one in requests if one.startswith("http") and "/artwork/" not in one}
    size = sum(len(gzip.compress(urllib.request.urlopen(one).read(), 9)) for one in files)
    print(f"   first view: {len(files)} files, {size} bytes compressed")
    assert size <= LONGEST_FIRST_VIEW and sum("/words/" in one for one in files) == 1
    assert not tab.problems(), tab.problems()
    tab.close()


def test_accessible(house, browser):
    """axe-core finds nothing on any view, dark and light, and in the sheets."""
    for dark in (True, False):
        tab = begin(house, browser, dark=dark, motion=False)
        house.call("session.create", name="night", policy="mix")
        tab.until("document.querySelector('.still') !== null")
        axe.load(tab)
        for view in [*VIEWS, "sheet"]:
            if view == "sheet":
                show(tab, "")
                tab.click(".heading [aria-label='More']")
                tab.until("document.querySelector('dialog .stars') !== null")
            else:
                show(tab, view)
            axe.check(tab, f"{view} (dark {dark})")
        tab.close()


def test_keyboard(house, browser):
    """Every control is reached by Tab, shows the focus, and has a name; space plays and pauses."""
    tab = begin(house, browser)
    tab.until(
        "document.querySelector('.scrub-range').disabled === false && document.querySelector('.volume-range').disabled === "
        "false"
    )
    wanted = tab.run(
        "[...document.querySelectorAll('a, button, input')].filter((one) => one.offsetParent !== null && !one.disabled && "
        "!one.hidden).length"
    )
    reached = set()
    for _ in range(wanted + 6):
        tab.key("Tab", 9)
        reached.add(
            tab.run(
                "(() => { const one = document.activeElement; one.dataset.tabbed ??= String(Math.random()); return one === "
                "document.body ? '' : one.dataset.tabbed; })()"
            )
        )
    assert len(reached - {""}) >= wanted, f"{len(reached)} of {wanted}"
    unnamed = tab.run(
        "[...document.querySelectorAll('button, a, input')].filter((one) => one.offsetParent && !(one.ariaLabel || "
        "one.textContent.trim())).length"
    )
    assert unnamed == 0
    tab.run("document.querySelector('#main').focus()")
    tab.key(" ", 32, " ")
    until(lambda: house.state["state"] == "paused", "the pause")
    # No text that is read aloud changes as time passes.
    house.call("play")
    tab.run(
        """void (window.spoken = 0, document.querySelectorAll('[role=status], [aria-live], [aria-valuetext]').forEach((one) =>
        new MutationObserver(() => window.spoken += 1).observe(one,
            { subtree: true, childList: true, characterData: true, attributeFilter: ["aria-valuetext"] })))"""
    )
    early = tab.run("document.querySelector('.times').textContent")
    tab.until("document.querySelector('.scrub-range').ariaValueText !== null")
    count = tab.run("window.spoken")
    tab.until(f"document.querySelector('.times').textContent !== {early!r}")
    early = tab.run("document.querySelector('.times').textContent")
    tab.until(f"document.querySelector('.times').textContent !== {early!r}")
    assert tab.run("window.spoken") <= count + 1
    tab.close()


def test_sizes(house, browser):
    """Nothing is cut off or scrolls sideways from 320 px to a television, with text of 200 %, and from right to left."""
    tab = begin(house, browser)
    for width, height, text, direction in (
        (320, 568, 100, "ltr"),
        (320, 568, 200, "ltr"),
        (390, 844, 100, "rtl"),
        (844, 390, 100, "ltr"),
        (1280, 800, 200, "rtl"),
        (3840, 2160, 100, "ltr"),
    ):
        tab.look(width=width, height=height)
        tab.run(
            f"void (document.documentElement.style.fontSize = '{text}%', document.documentElement.dir = '{direction}')"
            if text != 100
            else f"void (document.documentElement.style.fontSize = '', document.documentElement.dir = '{direction}')"
        )
        for view in VIEWS:
            show(tab, view)
            wide = tab.run("""(() => { const root = document.documentElement; const out = [];
                for (const one of document.querySelectorAll('main *, #tabs *, #mini *')) {
                if (one.closest('[hidden], .unseen, .virtual-row, .scrub-track')) continue;
                const r = one.getBoundingClientRect();
                if (r.width > 0 && (r.right > innerWidth + 1 || r.left < -1)) out.push(one.className || one.tagName); }
                return JSON.stringify([root.scrollWidth > innerWidth, out.map(String).slice(0, 5)]); })()""")
            assert json.loads(wide) == [False, []], f"{view} at {width} × {height}, {text} %, {direction}: {wide}"
    tab.run("void (document.documentElement.style.fontSize = '', document.documentElement.dir = 'ltr')")
    show(tab, "")
    tab.look(width=320, height=568)
    small = tab.run(
        "JSON.stringify([...document.querySelectorAll('main button, #tabs a')].filter((one) => one.offsetParent !== "
        "null).map((one) => [one.ariaLabel ?? one.textContent,"
        " one.getBoundingClientRect()]).filter(([, r]) => r.width < 44 || r.height < 44).map(([name]) => name))"
    )
    assert small == "[]", small
    tab.close()


# From the smallest phones to a wide desk.
WIDTHS = (320, 360, 390, 412, 480, 600, 768, 834, 1024, 1280, 1440, 1920, 2560)
# Elements that leave the window, and parts that scroll sideways. Parts that clip their content, or scroll by themselves because a
# row of tiles does, may be wider inside.
OVERFLOW = """(() => {
    const root = document.documentElement;
    const name = (one) => one.id || one.className?.baseVal || one.className || one.tagName;
    const clips = (one) => { for (let up = one.parentElement; up && up !== document.body; up = up.parentElement)
        if (getComputedStyle(up).overflowX !== 'visible') return true; return false; };
    const shown = [...document.querySelectorAll('body *')].filter((one) => one.checkVisibility() && !one.closest('.unseen'));
    const out = shown.filter((one) => { const r = one.getBoundingClientRect();
        return r.width > 0 && !clips(one) && (r.right > root.clientWidth + 1 || r.left < -1); });
    scrollTo({ left: 99, behavior: 'instant' });
    const moved = scrollX;
    scrollTo({ left: -99, behavior: 'instant' });
    const back = scrollX;
    scrollTo({ left: 0, behavior: 'instant' });
    return JSON.stringify([moved, back, root.scrollWidth - root.clientWidth, out.map(name).slice(0, 5)]);
})()"""


def test_no_view_is_too_wide(house, browser):
    """No view scrolls sideways at any width from 320 to 2560 pixels, from left to right and from right to left, while an item
    plays near its beginning and near its end."""
    for mobile in (False, True):
        tab = begin(house, browser, motion=False, mobile=mobile)
        for width in WIDTHS:
            tab.look(width=width, height=max(568, width * 5 // 8), motion=False, mobile=mobile)
            for view in [*VIEWS, "library/artists", "library/genres", "library/lists", "rooms"]:
                show(tab, view)
                for direction in ("ltr", "rtl"):
                    tab.run(f"void (document.documentElement.dir = '{direction}')")
                    for share in (0.0, 0.97) if view in ("", "queue") else (0.97,):
                        tab.run(
                            "document.querySelectorAll('.scrub-knob').forEach((one) => "
                            f"one.style.transform = 'translateX({share * 100}%)')"
                        )
                        wide = json.loads(tab.run(OVERFLOW))
                        assert wide == [0, 0, 0, []], f"“{view}” at {width}, {direction}, {share}, mobile {mobile}: {wide}"
        # The real knob, where the daemon plays.
        tab.run("void (document.documentElement.dir = 'ltr')")
        tab.look(width=400, height=800, motion=False, mobile=mobile)
        show(tab, "")
        house.call("changePlaybackPosition", position=house.state["item"]["duration"] * 0.9)
        tab.until("parseFloat(document.querySelector('.scrub-knob').style.transform.slice(11)) > 85")
        assert json.loads(tab.run(OVERFLOW)) == [0, 0, 0, []]
        knob = "document.querySelector('.scrub-knob').getBoundingClientRect()"
        track = "document.querySelector('.scrub-track').getBoundingClientRect()"
        assert abs(tab.run(f"{knob}.left - ({track}.left + {track}.width * 0.9)")) < 0.02 * 400
        tab.close()


def test_languages(house, browser):
    """Each language has texts on every view, and no key appears in place of a text."""
    tab = begin(house, browser)
    for language in ("de", "es", "fr", "ja", "en"):
        tab.run(f"void (localStorage.setItem('nowplaying.language', '{language}'), location.reload())")
        tab.until(f"document.documentElement.lang === '{language}' && document.querySelector('h1') !== null")
        words = json.loads(urllib.request.urlopen(f"{house.address}/words/{language}.json").read())
        assert tab.run("document.querySelector('#tabs').textContent").startswith(words["playing"])
        for view in VIEWS:
            show(tab, view)
            text = tab.run(
                "document.body.innerText + [...document.querySelectorAll('[aria-label]')].map((one) => one.ariaLabel).join(' ')"
            )
            assert not re.search(r"\{\w+\}|\b(?:state|reason|stall|mode|repeat|shuffle)\.\w", text), text
    tab.run("localStorage.removeItem('nowplaying.language')")
    tab.close()


def test_sideways(house, browser):
    """On a phone in landscape, picture and transport are in sight at once, above the tabs."""
    for width, height in ((568, 320), (667, 375), (844, 390)):
        tab = begin(house, browser, width=width, height=height, mobile=True, motion=False)
        tab.until("document.querySelector('.still') !== null")
        bottom = lambda selector: tab.run(f"document.querySelector({selector!r}).getBoundingClientRect().bottom")
        tabs = tab.run("document.querySelector('#tabs').getBoundingClientRect().top")
        assert bottom(".play-button") <= tabs and bottom(".picture") <= tabs, (width, height)
        tab.close()


def test_television(house, browser):
    """In full screen, text is readable from three metres: no text is smaller than a fiftieth of the screen."""
    for width, height in ((1366, 768), (1920, 1080), (3840, 2160)):
        tab = begin(house, browser, width=width, height=height, motion=False)
        tab.until("document.querySelector('.still') !== null")
        for view in VIEWS:
            show(tab, view)
            small = tab.run(
                """JSON.stringify([...document.querySelectorAll('main *, #tabs *')].filter((one) => one.checkVisibility()
                && !one.closest('.unseen, svg, .seconds')
                && [...one.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim() !== "")
                && parseFloat(getComputedStyle(one).fontSize) < innerHeight / 54).map((one) => one.textContent))"""
            )
            assert small == "[]", f"{view} at {width} × {height}: {small}"
        show(tab, "")
        assert tab.run("parseFloat(getComputedStyle(document.querySelector('h1.title')).fontSize) >= innerHeight / 22")
        bottom = tab.run("document.querySelector('.upcoming').getBoundingClientRect().bottom")
        assert bottom <= height, f"the console ends at {bottom} of {height}"
        tab.close()


def test_pictures(house, browser):
    """Makes pictures of the main views for docs/ if PICTURES names a folder."""
    folder = os.environ.get("PICTURES")
    if not folder:
        return
    phone = {"width": 390, "height": 844, "scale": 2}
    for name, view, looks in (
        ("page", "", {}),
        ("page-library", "library", {}),
        ("page-queue", "queue", {"dark": False}),
        ("page-phone", "", phone),
        ("page-phone-light", "", phone | {"dark": False}),
        ("page-phone-queue", "queue", phone),
        ("page-phone-library", "library", phone | {"dark": False}),
        ("page-phone-sessions", "sessions", phone),
    ):
        tab = begin(house, browser, motion=False, **looks)
        house.call("play", index=0)
        house.call("changePlaybackPosition", position=83)
        house.call("like")
        tab.until(
            "document.querySelector('h1.title').textContent === 'Harbour Lights' && document.querySelector('.still') !== null"
        )
        show(tab, view)
        tab.until(
            "[...document.querySelectorAll('main img')].every((one) => one.hidden || one.naturalWidth > 0 || one.loading === "
            "'lazy') && [...document.querySelectorAll('main .tile .cover')].every((one) => one.querySelector('img') !== null || "
            "one.getBoundingClientRect().top > innerHeight) && [...document.querySelectorAll('main .item-title')].every((one) => "
            "!/^\\d+$/.test(one.textContent))"
        )
        tab.picture(f"{folder}/{name}.jpg", "jpeg")
        tab.close()
