"""Every control of the page, against a real daemon: a click, and the state that follows."""

from browser import until


def state(house, path, value):
    """Waits until a key of the daemon's state has a value."""

    def now():
        found = house.state
        for key in path.split("."):
            found = found.get(key) if found is not None else None
        return found == value or None

    until(now, f"{path} = {value}")


def begin(house, browser, play=True, address=None, **looks):
    house.fresh()
    if play:
        house.call("play", index=1)
    tab = browser.tab(f"{address or house.address}/", **looks)
    tab.until("document.querySelector('.title')?.textContent.length > 0 && !document.body.matches('.is-empty')")
    return tab


def choose(tab, button, text):
    tab.until("document.querySelector('dialog[open]') === null")
    tab.click(button)
    tab.until("document.querySelector('dialog[open] .choice') !== null")
    tab.run(f"[...document.querySelectorAll('dialog[open] .choice')].find((one) => one.textContent.includes({text!r})).click()")


def test_transport(house, browser):
    """Play, pause, next, previous, skips by the preferred intervals."""
    tab = begin(house, browser)
    tab.until("document.querySelector('.title').textContent === 'Slow Ferry'")
    tab.click(".play-button")
    state(house, "state", "paused")
    tab.until("document.querySelector('.play-button').ariaLabel === 'Play'")
    tab.click(".play-button")
    state(house, "state", "playing")
    tab.click("[aria-label='Next']")
    state(house, "item.title", "Salt on Glass")
    tab.click("[aria-label='Previous']")
    state(house, "item.title", "Slow Ferry")
    house.call("pause")
    house.call("changePlaybackPosition", position=60)
    tab.click("[aria-label='Skip forward 15 seconds']")
    state(house, "anchor.elapsed", 75)
    tab.click("[aria-label='Skip back 15 seconds']")
    state(house, "anchor.elapsed", 60)
    assert not tab.problems(), tab.problems()
    tab.close()


def test_modes(house, browser):
    """Shuffle and repeat go through all modes; consume, single and stop are in the sheet."""
    tab = begin(house, browser)
    for mode in ("items", "collections", "off"):
        tab.click("[aria-label^='Shuffle']")
        state(house, "shuffleMode", mode)
        word = {"items": "items", "collections": "albums", "off": "off"}[mode]
        tab.until(f"document.querySelector('[aria-label^=Shuffle]').ariaLabel === 'Shuffle: {word}'")
    for mode in ("all", "one", "off"):
        tab.click("[aria-label^='Repeat']")
        state(house, "repeatMode", mode)
        word = {"all": "queue", "one": "this item", "off": "off"}[mode]
        tab.until(f"document.querySelector('[aria-label^=Repeat]').ariaLabel === 'Repeat: {word}'")
    tab.click(".heading [aria-label='More']")
    for label, mode, key in (("Remove played items", "once", "consumeMode"), ("Pause after each item", "on", "singleMode")):
        tab.until(f"document.querySelector('select[aria-label=\"{label}\"]')?.disabled === false")
        tab.run(f"""(() => {{ const one = document.querySelector('select[aria-label="{label}"]');
            one.value = "{mode}"; one.dispatchEvent(new Event("change")); }})()""")
        state(house, key, mode)
        tab.until(f"document.querySelector('select[aria-label=\"{label}\"]').value === {mode!r}")
    tab.run("[...document.querySelectorAll('dialog .row-button')].find((one) => one.textContent === 'Stop').click()")
    state(house, "state", "stopped")
    tab.close()


def test_feedback(house, browser):
    """Like, dislike, bookmark and stars."""
    tab = begin(house, browser)
    tab.click(".like")
    state(house, "item.isLiked", True)
    tab.until("document.querySelector('.like').ariaPressed === 'true'")
    tab.click(".like")
    until(lambda: "isLiked" not in house.state["item"] or not house.state["item"]["isLiked"], "no like")
    tab.click(".heading [aria-label='More']")
    tab.click("[aria-label='4 stars']")
    state(house, "item.rating", 4)
    tab.until("document.querySelectorAll('.star.is-on').length === 4")
    for word, key in (("Dislike", "isDisliked"), ("Bookmark here", "bookmark")):
        tab.run(f"[...document.querySelectorAll('dialog .row-button')].find((one) => one.textContent === '{word}').click()")
        until(lambda: house.state["item"].get(key), key)
        tab.until(
            f"[...document.querySelectorAll('dialog .row-button')].find((one) => one.textContent === '{word}').ariaPressed "
            f"=== 'true'"
        )
    tab.key("Escape", 27)
    tab.until("document.querySelector('dialog') === null")
    house.call("bookmark", active=False)
    tab.close()


def test_sound(house, browser):
    """Volume by keys and by the pointer, mute, rate, sleep timer, output."""
    tab = begin(house, browser)
    tab.until("document.querySelector('.volume-range').disabled === false")
    tab.run("document.querySelector('.volume-range').focus()")
    tab.key("End", 35)
    state(house, "volume", 1)
    tab.key("ArrowLeft", 37)
    state(house, "volume", 0.99)
    tab.click(".volume .icon-button")
    state(house, "muted", True)
    tab.until("document.querySelector('.volume .icon-button').ariaPressed === 'true'")
    tab.click(".volume .icon-button")
    state(house, "muted", False)
    tab.until("document.querySelector('.volume .icon-button').ariaPressed === 'false'")
    # A move of the slider ends the mute that it finds, and no mute that comes meanwhile.
    for volume, muted in ((0.6, False), (0.7, True)):
        house.call("volume.set", muted=True)
        tab.until("document.querySelector('.volume .icon-button').ariaPressed === 'true'")
        tab.run(
            f"(() => {{ const range = document.querySelector('.volume-range'); range.value = {volume};"
            "range.dispatchEvent(new Event('input')); })()"
        )
        state(house, "volume", volume)
        state(house, "muted", muted)
        tab.until(f"document.querySelector('.volume .icon-button').ariaPressed === '{str(muted).lower()}'")
    tab.run("document.querySelector('.volume-range').dispatchEvent(new Event('change'))")
    house.call("volume.set", muted=False)
    tab.until("document.querySelector('.volume .icon-button').ariaPressed === 'false'")
    tab.click(".volume-range")
    until(lambda: abs(house.state["volume"] - 0.5) < 0.03, "half of the volume")
    choose(tab, "[aria-label^='Speed']", "1.5×")
    state(house, "anchor.rate", 1.5)
    tab.until("document.querySelector('[aria-label^=\"Speed\"]').textContent === '1.5×'")
    house.call("changePlaybackRate", rate=1)
    choose(tab, "[aria-label='Sleep timer']", "30 minutes")
    until(lambda: house.state["sleep"] and "endsMonotonic" in house.state["sleep"], "the sleep timer")
    choose(tab, "[aria-label='Sleep timer']", "End of this item")
    state(house, "sleep.endOf", "item")
    choose(tab, "[aria-label='Sleep timer']", "Off")
    state(house, "sleep", None)
    choose(tab, "[aria-label^='Output']", "")
    tab.until("document.querySelector('dialog') === null")
    assert not tab.problems(), tab.problems()
    tab.close()


def test_seek(house, browser):
    """The pointer and keys seek; the words of the slider give the position."""
    tab = begin(house, browser)
    house.call("pause")
    tab.until("document.querySelector('.scrub-range').disabled === false")
    duration = house.state["item"]["duration"]
    tab.click(".scrub-range")
    until(lambda: abs(house.state["anchor"]["elapsed"] - duration / 2) < duration / 50, "the middle")
    house.call("changePlaybackPosition", position=90)
    tab.until("document.querySelector('.scrub-range').ariaValueText.startsWith('1 minute, 30 seconds of 4 minutes')")
    tab.run("document.querySelector('.scrub-range').focus()")
    tab.key("ArrowRight", 39)
    state(house, "anchor.elapsed", 95)
    tab.key("PageUp", 33)
    state(house, "anchor.elapsed", 155)
    tab.key("Home", 36)
    state(house, "anchor.elapsed", 0)
    tab.close()


def test_chapters(house, browser):
    """Chapters: the present one by its name, marks, and a list that seeks."""
    tab = begin(house, browser)
    house.call("pause")
    number = house.state["item"]["id"]
    house.call("item.update", id=number, chapters=[{"start": 0, "title": "Dawn"}, {"start": 100, "title": "<b>Noon</b>"}])
    tab.until("document.querySelector('.chapter').textContent === 'Dawn'")
    choose(tab, ".chapter", "<b>Noon</b>")
    state(house, "anchor.elapsed", 100)
    tab.until(
        "document.querySelector('.chapter').textContent === '<b>Noon</b>' && document.querySelectorAll('.scrub-marks "
        "i').length === 1"
    )
    tab.close()


def test_reasons(house, browser):
    """A button that the daemon disables shows the reason."""
    tab = begin(house, browser, play=False)
    house.call("queue.clear")
    tab.until("document.querySelector('.title').textContent === 'Nothing is playing'")
    tab.until(
        "document.querySelector('.play-button').disabled && document.querySelector('.play-button').title.includes('The queue "
        "is empty.')"
    )
    house.call("queue.add", items=house.paths()[:2], play=True)
    tab.until("!document.querySelector('[aria-label=\"Next\"]').disabled")
    with house.connection() as owner:
        owner("commands.configure", command="nextTrack", enabled=False, reason="The children choose.", whileConnected=True)
        tab.until("document.querySelector('[aria-label=\"Next\"]').title === 'Next: The children choose.'")
        tab.until("document.querySelector('[aria-label=\"Next\"]').ariaDescription === 'The children choose.'")
    tab.until("!document.querySelector('[aria-label=\"Next\"]').disabled")
    tab.close()


def test_hostile_text(house, browser):
    """Markup in tags is text."""
    tab = begin(house, browser)
    bad = "<img src=x onerror=document.title='hacked'>&amp;\u202e"
    house.call("item.update", id=house.state["item"]["id"], title=bad, artist=bad, albumTitle=bad)
    tab.until(f"document.querySelector('h1.title').textContent === {bad!r}")
    assert tab.run("document.querySelector('main img[src=x]') === null && !document.title.startsWith('hacked')")
    for view in ("queue", "sessions"):
        tab.run(f"void (location.hash = '#/{view}')")
        tab.until("document.querySelector('main .item-title')?.textContent.length > 0")
        assert tab.run("document.querySelector('img[src=x]') === null")
    tab.close()
