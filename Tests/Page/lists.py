"""The queue, the library, sessions, announcements and devices, against real programs."""

import os
import socket

from browser import until
from controls import begin, choose, state


def titles(house, count=6):
    return [item["title"] for item in house.call("queue.list", limit=count)["items"]]


def open_view(house, browser, view, **looks):
    tab = begin(house, browser, **looks)
    tab.run(f"void (location.hash = '#/{view}')")
    return tab


def row(title):
    return f"[...document.querySelectorAll('.item')].find((one) => one.textContent.includes({title!r}))"


def test_queue(house, browser):
    """Play, move by the menu and by dragging, remove, undo, clear, undo."""
    tab = open_view(house, browser, "queue")
    tab.until(f"{row('Salt on Glass')} !== undefined")
    tab.run(f"{row('Salt on Glass')}.querySelector('.item-main').click()")
    state(house, "item.title", "Salt on Glass")
    tab.until(f"{row('Salt on Glass')}.matches('.is-current')")
    before = ["Harbour Lights", "Slow Ferry", "Salt on Glass", "The Long Pier", "Origami", "Blue Hour"]
    # The daemon reads titles of files that it has not opened yet.
    until(lambda: titles(house) == before, "the titles")
    for title in before:
        tab.until(f"{row(title)} !== undefined")
    tab.run(f"void ({row('Harbour Lights')}.querySelector('[aria-label^=More]').id = 'menu')")
    choose(tab, "#menu", "Move down")
    until(lambda: titles(house)[:2] == ["Slow Ferry", "Harbour Lights"], "the moved item")
    tab.until(f"{row('Slow Ferry')}.dataset.index === '0'")
    tab.click("#notice .text-button")
    until(lambda: titles(house) == before, "the old order")
    tab.until(f"{row('Harbour Lights')}.dataset.index === '0'")
    places = tab.run(
        "[...document.querySelectorAll('.item')].sort((a, b) => a.dataset.index - b.dataset.index).slice(0, 4)"
        ".map((one) => { const r = one.querySelector('.grip').getBoundingClientRect(); return [r.x + r.width / 2, r.y + "
        "r.height / 2]; })"
    )
    tab.press(*places[0], to=(places[3][0], places[3][1] + 12))
    until(lambda: titles(house)[:4] == before[1:4] + before[:1], "the dragged item")
    tab.click("#notice .text-button")
    until(lambda: titles(house) == before, "the old order")
    tab.until(f"{row('Slow Ferry')}.dataset.index === '1'")
    tab.run(f"{row('Slow Ferry')}.querySelector('[aria-label^=More]').click()")
    tab.until("document.querySelector('dialog[open] .choice') !== null")
    tab.run("[...document.querySelectorAll('dialog[open] .choice')].at(-1).click()")
    tab.until("document.querySelector('#notice').textContent.startsWith('Removed')")
    assert "Slow Ferry" not in titles(house)
    tab.click("#notice .text-button")
    until(lambda: titles(house) == before, "the item that came back")
    count = house.state["queue"]["count"]
    tab.run("[...document.querySelectorAll('.actions button')].at(-1).click()")
    until(lambda: house.state["queue"]["count"] == 0, "an empty queue")
    tab.until("document.querySelector('.empty').hidden === false")
    tab.click("#notice .text-button")
    until(lambda: house.state["queue"]["count"] == count and titles(house) == before, "all items again")
    assert not tab.problems(), tab.problems()
    tab.close()


def test_million(house, browser):
    """A queue of a million items: every index can be reached, and few rows exist."""
    house.call("queue.clear")
    file = os.memfd_create("list")
    path = house.paths()[0]
    with os.fdopen(os.dup(file), "w") as lines:
        for number in range(1_000_000):
            lines.write(f'{{"uri":"{path}","title":"Item {number}"}}\n')
    with socket.socket(socket.AF_UNIX) as daemon:
        daemon.connect(f"{house.folder}/control.sock")
        os.lseek(file, 0, os.SEEK_SET)
        socket.send_fds(daemon, [b'{"jsonrpc":"2.0","id":1,"method":"queue.add","params":{"list":{"descriptor":0}}}\n'], [file])
        answer = daemon.makefile().readline()
    assert '"count":1000000' in answer.replace(" ", ""), answer
    tab = browser.tab(f"{house.address}/#/queue")
    tab.until("document.querySelector('.summary')?.textContent === '1,000,000 items'")
    tab.until(f"{row('Item 3')} !== undefined")
    tab.run("scrollTo(0, document.documentElement.scrollHeight)")
    tab.until(f"{row('Item 999999')} !== undefined")
    assert tab.run("document.querySelectorAll('.item').length") < 60
    tab.run("scrollTo(0, document.documentElement.scrollHeight / 2)")
    tab.until(
        "(() => { const one = document.querySelector('.item.virtual-row:not(.is-loading)'); return one && "
        "Math.abs(one.dataset.index - 500000) < 5000; })()"
    )
    # A step of a wheel is a few rows.
    first = tab.run("Math.min(...[...document.querySelectorAll('.item')].map((one) => Number(one.dataset.index)))")
    tab.run("scrollBy(0, 320)")
    tab.until(
        f"(() => {{ const now = Math.min(...[...document.querySelectorAll('.item')].map((one) => Number(one.dataset.index)));"
        f"return now > {first} && now <= {first} + 8; }})()"
    )
    tab.close()
    house.call("queue.clear")


def test_drag_while_changing(house, browser):
    """The dragged item moves, although the queue changes under the pointer."""
    tab = open_view(house, browser, "queue")
    before = ["Harbour Lights", "Slow Ferry", "Salt on Glass", "The Long Pier", "Origami", "Blue Hour"]
    until(lambda: titles(house) == before, "the titles")
    tab.until(f"{row('Blue Hour')}?.dataset.index === '5'")
    place = lambda title: tab.run(
        f"(() => {{ const r = {row(title)}.querySelector('.grip').getBoundingClientRect(); return [r.x + r.width / 2, r.y + "
        "r.height / 2]; })()"
    )
    mouse = lambda kind, x, y: tab.send(
        "Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=1, clickCount=1
    )
    from_x, from_y = place("Salt on Glass")
    to_x, to_y = place("Origami")
    mouse("mousePressed", from_x, from_y)
    mouse("mouseMoved", to_x, to_y - 12)
    house.call("queue.remove", ids=[house.call("queue.list", limit=1)["items"][0]["id"]])
    tab.until(f"{row('Salt on Glass')}?.dataset.index === '1'")
    # Origami is one index lower now; Blue Hour has not moved.
    mouse("mouseMoved", to_x, to_y - 10)
    assert tab.run(f"{row('Salt on Glass')}.matches('.is-dragged')")
    assert tab.run("document.querySelectorAll('.is-dragged').length") == 1
    mouse("mouseReleased", to_x, to_y - 10)
    after = ["Slow Ferry", "The Long Pier", "Origami", "Salt on Glass", "Blue Hour"]
    until(lambda: titles(house, 5) == after, "the dragged item")
    tab.close()


def test_library(house, browser):
    """Search as you type, an album with its cover, play and add."""
    tab = open_view(house, browser, "library")
    until(lambda: house.call("library.status")["tracks"] == len(house.paths()), "the library")
    tab.until("document.querySelectorAll('.tile').length >= 6")
    tab.until("[...document.querySelectorAll('.tile img')].some((one) => one.naturalWidth > 0)")
    tab.run("document.querySelector('.search').focus()")
    for letter in "paper":
        tab.type(letter)
    # The test waits for the answer to the last letter: a later answer may put other rows under the finger.
    tab.until("document.querySelector('.results').ariaBusy === 'false'")
    tab.until("document.querySelector('.results .tile')?.textContent.includes('Paper Moons')")
    tab.click(".results .tile")
    tab.until(
        "document.querySelector('.shelf-title')?.textContent === 'Paper Moons' && document.querySelectorAll('.shelf "
        ".item').length === 3"
    )
    tab.until("document.querySelector('.album-head .cover img')?.naturalWidth > 0")
    count = house.state["queue"]["count"]
    tab.run("[...document.querySelectorAll('.album-head button')].at(-1).click()")
    until(lambda: house.state["queue"]["count"] == count + 3, "three more items")
    tab.click(".album-head .primary")
    state(house, "item.title", "Origami")
    tab.until("location.hash === '#/' && document.querySelector('h1.title').textContent === 'Origami'")
    for shelf, text in (
        ("artists", "Ada Winter"),
        ("genres", "Jazz"),
        ("albums", "Glass Garden"),
        ("folders", "music"),
        ("artist/Ada%20Winter", "First Leaf"),
        ("genre/Jazz", "Harbour Lights"),
        ("folders/music%2FTidewater", "Slow Ferry"),
    ):
        tab.run(f"void (location.hash = '#/library/{shelf}')")
        tab.until(f"document.querySelector('.shelf').textContent.includes({text!r})")
    tab.run("void (location.hash = '#/library/lists')")
    tab.until("document.querySelector('form.actions input') !== null")
    tab.run("document.querySelector('form.actions input').focus()")
    tab.type("Evening")
    tab.key("Enter", 13, "\r")
    tab.until(
        "document.querySelector('.shelf-title')?.textContent === 'Evening' && document.querySelectorAll('.shelf "
        ".item').length > 10"
    )
    house.call("lists.delete", name="Evening")
    assert not tab.problems(), tab.problems()
    tab.close()


def test_library_returns(house, browser):
    """After a lost connection, the library follows its changes; the page requests a missing list again."""
    tab = open_view(house, browser, "library")
    until(lambda: house.call("library.status")["tracks"] == len(house.paths()), "the library")
    tab.until("document.querySelectorAll('.tile').length >= 6")
    house.end(house.web)
    tab.until("document.body.matches('.is-stale')")
    house.begin_web(house.port)
    tab.until("!document.body.matches('.is-stale')")
    folder = house.folder / "music" / "Fresh Paint"
    folder.mkdir()
    house.run("sox", "-n", "-r", "8000", "-c", "1", house.folder / "paint.flac", "synth", "1", "sine", "440")
    tags = ["--set-tag=ALBUM=Fresh Paint", "--set-tag=TITLE=Primer", "--set-tag=ARTIST=Ada Winter"]
    house.run("metaflac", *tags, house.folder / "paint.flac")
    try:
        (house.folder / "paint.flac").rename(folder / "1.flac")
        house.call("library.update")
        tab.until("document.querySelector('.tiles')?.textContent.includes('Fresh Paint')")
        house.end(house.web)
        tab.until("document.body.matches('.is-stale')")
        tab.run("void (location.hash = '#/library/albums')")
        tab.until("document.querySelector('.shelf').childElementCount === 0")
        house.begin_web(house.port)
        tab.until("document.querySelector('.shelf-title')?.textContent === 'Albums'")
        house.end(house.library)
        tab.run("void (location.hash = '#/library/artists')")
        tab.until("document.querySelector('.list-end button') !== null")
        house.begin_library()
        until(lambda: house.call("library.status"), "the library")
        tab.click(".list-end button")
        tab.until("document.querySelector('.shelf').textContent.includes('Ada Winter')")
        tab.until("document.querySelector('.list-end button') === null")
    finally:
        (folder / "1.flac").unlink(missing_ok=True)
        folder.rmdir()
        house.call("library.update")
    until(lambda: house.call("library.status")["tracks"] == len(house.paths()), "the library as before")
    tab.close()


def test_sessions(house, browser):
    """All sessions; take over, quiet, close. The page also shows the state of an external session."""
    house.fresh()
    tab = open_view(house, browser, "sessions")
    tab.run("import(document.querySelector('[href*=main]').href).then(({ app }) => app.player.call('session.create', { name: 'night', policy: 'mix' }))")
    tab.run("void (location.hash = '#/')")
    tab.run("void (location.hash = '#/sessions')")
    tab.until("document.querySelectorAll('.session').length === 2")
    with house.connection() as player:
        player("session.create", name="airplay", external=True, commands=["play", "pause"])
        player(
            "nowPlaying.publish",
            session="airplay",
            state="paused",
            item={"title": "Elsewhere", "artist": "Somebody", "duration": 200},
        )
        tab.run("void (location.hash = '#/')")
        tab.run("void (location.hash = '#/sessions')")
        tab.until("document.querySelector('main').textContent.includes('Elsewhere')")
        tab.click("[data-key='airplay take']")
        until(lambda: house.state["session"] == "airplay", "the external session")
        tab.run("void (location.hash = '#/')")
        tab.until("document.querySelector('h1.title').textContent === 'Elsewhere'")
        tab.until("document.querySelector('[aria-label=\"Next\"]').disabled")
        # It plays and stops: what resumes is shown, and its button pauses it.
        house.call("play", session="main")
        item = {"title": "Elsewhere", "artist": "Somebody", "duration": 200}
        player("nowPlaying.publish", session="airplay", state="playing", item=item)
        until(lambda: house.call("nowPlaying.get", session="main")["state"] == "interrupted", "the interruption")
        player("nowPlaying.publish", session="airplay", state="stopped", item=item)
        tab.until("document.querySelector('h1.title').textContent === 'Slow Ferry'")
        until(lambda: house.state["session"] == "main" and house.state["state"] == "playing", "the music again")
        tab.until("document.querySelector('.play-button').ariaLabel === 'Pause'")
        tab.click(".play-button")
        until(lambda: house.state["state"] == "paused", "the pause")
    tab.until("document.querySelector('h1.title').textContent === 'Slow Ferry'")
    tab.run("void (location.hash = '#/sessions')")
    # The card of the external session leaves, and the one below it moves.
    tab.until("document.querySelectorAll('.session').length === 2")
    tab.click("[data-key='night close']")
    until(lambda: len(house.call("session.list")["sessions"]) == 1, "one session")
    tab.close()


def test_session_volume(house, browser):
    """A slider of a session stays under the finger while events come, and the cards are right afterwards."""
    tab = open_view(house, browser, "sessions")
    tab.until("document.querySelector('[data-key=\"main volume\"]')?.disabled === false")
    left, top, width = tab.run(
        "(() => { const r = document.querySelector('[data-key=\"main volume\"]').getBoundingClientRect(); return [r.x, r.y + "
        "r.height / 2, r.width]; })()"
    )
    mouse = lambda kind, share: tab.send(
        "Input.dispatchMouseEvent", type=kind, x=left + width * share, y=top, button="left", buttons=1, clickCount=1
    )
    mouse("mousePressed", 0.7)
    tab.run("void (window.held = document.querySelector('[data-key=\"main volume\"]'))")
    seen = house.state["volume"]
    for share in (0.6, 0.4, 0.2):
        mouse("mouseMoved", share)
        until(lambda: house.state["volume"] < seen, "a lower volume")
        seen = house.state["volume"]
        # The page shows the event of this step and its consequences.
        tab.until(f"import(document.querySelector('[href*=main]').href).then(({{ app }}) => app.player.state.volume <= {seen} + 1e-9)")
        tab.run("import(document.querySelector('[href*=main]').href).then(({ app }) => app.player.call('session.list'))")
        assert tab.run("held.isConnected"), "the slider was replaced"
    house.call("nextTrack")
    state(house, "item.title", "Salt on Glass")
    tab.until("import(document.querySelector('[href*=main]').href).then(({ app }) => app.player.state.item?.title === 'Salt on Glass')")
    mouse("mouseReleased", 0.2)
    tab.until("!held.isConnected && document.querySelector('main').textContent.includes('Salt on Glass')")
    assert house.state["volume"] < 0.35, house.state["volume"]
    tab.close()


def test_announce(house, browser):
    """A sound file plays over the music; another file is refused with a message."""
    tab = open_view(house, browser, "announce")
    tab.until("document.querySelector('#sound')?.disabled === false")
    bell, text = house.folder / "bell.flac", house.folder / "none.wav"
    text.write_text("no sound")
    house.run("sox", "-n", "-r", "8000", "-c", "1", bell, "synth", "0.3", "sine", "880")
    for path, words in ((bell, "has played"), (text, "Is it a sound file?")):
        node = tab.send("DOM.getDocument")["root"]["nodeId"]
        field = tab.send("DOM.querySelector", nodeId=node, selector="#sound")["nodeId"]
        tab.send("DOM.setFileInputFiles", files=[str(path)], nodeId=field)
        tab.until(f"document.querySelector('main .condition').textContent.includes({words!r})")
    tab.close()
