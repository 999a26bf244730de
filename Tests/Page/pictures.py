"""Pictures of external sessions and of stations on the page."""

import contextlib
import http.server
import pathlib
import threading

from browser import NotTested, until
from controls import state
from covers import ALBUMS

# The colour of the still picture near a corner, as three numbers; null while it does not show.
CORNER = """(() => { const one = document.querySelector('img.still:last-of-type');
    if (!one || !one.complete || !one.naturalWidth) return null;
    const canvas = document.createElement('canvas'); canvas.width = canvas.height = 60;
    const context = canvas.getContext('2d'); context.drawImage(one, 0, 0, 60, 60);
    return [...context.getImageData(1, 1, 1, 1).data].slice(0, 3); })()"""


# Pictures of one colour each.
RED, GREEN, BLUE = "#c04a30", "#2a9d5c", "#2a50c0"


def plain(house, colour):
    """The path of a picture of one colour."""
    path = house.folder / f"plain-{colour[1:]}.jpg"
    house.run("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", f"color=c={colour}:s=600x600", "-frames:v", "1", path)
    return path


def shows(page, colour):
    """Waits until the page shows a picture with this colour at its corner."""
    wanted = [int(colour[at : at + 2], 16) for at in (1, 3, 5)]

    def now():
        found = page.run(CORNER)
        return found and all(abs(one - other) < 24 for one, other in zip(found, wanted))

    until(now, f"a picture of {colour}, not {page.run(CORNER)}")


@contextlib.contextmanager
def station(house):
    """A station with a logo: the address of its stream."""
    sound, logo = house.folder / "station.mp3", plain(house, BLUE)
    house.run("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "sine=440:d=120", "-b:a", "64k", sound)
    end = threading.Event()

    class Station(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            if self.path == "/logo.jpg":
                self.send_header("Content-Type", "image/jpeg")
                self.end_headers()
                return self.wfile.write(logo.read_bytes())
            self.send_header("Content-Type", "audio/mpeg")
            self.send_header("icy-name", "Radio <b>Test</b>")
            self.send_header("icy-logo", f"http://127.0.0.1:{self.server.server_port}/logo.jpg")
            self.end_headers()
            with contextlib.suppress(ConnectionError):
                # After a first burst, a station sends at the speed of playback.
                data = sound.read_bytes()
                self.wfile.write(data[:200_000])
                for start in range(200_000, len(data), 8000):
                    if end.wait(1):
                        return None
                    self.wfile.write(data[start : start + 8000])
            return None

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Station)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/stream"
    finally:
        end.set()
        server.shutdown()
        server.server_close()


def look(house, page):
    """The cover of a file, the picture of an external session, the file's again, and the logo of a station."""
    page.until("document.querySelector('h1.title')?.textContent === 'Slow Ferry'")
    has_cover = (house.folder / "cover0.jpg").exists()
    if has_cover:
        shows(page, ALBUMS[0][4][1])
    with house.connection() as player:
        player("session.create", name="airplay", external=True, commands=["play", "pause"])
        item = {"title": "Elsewhere", "artist": "Somebody", "duration": 200, "artworkUrl": str(plain(house, RED))}
        player("nowPlaying.publish", session="airplay", state="playing", item=item)
        house.call("session.activate", name="airplay")
        page.until("document.querySelector('h1.title').textContent === 'Elsewhere'")
        shows(page, RED)
        # A picture that disappears before its predecessor has faded, and another one after it.
        bare = {key: value for key, value in item.items() if key != "artworkUrl"}
        player("nowPlaying.publish", session="airplay", state="playing", item=bare | {"title": "Bare"})
        page.until("document.querySelector('h1.title').textContent === 'Bare'")
        page.until("document.querySelector('.picture-empty') !== null")
        player("nowPlaying.publish", session="airplay", state="playing", item=item | {"title": "Short"})
        shows(page, RED)
        player("nowPlaying.publish", session="airplay", state="playing", item=bare | {"title": "Bare again"})
        page.until("document.querySelector('h1.title').textContent === 'Bare again'")
        page.until("document.querySelector('img.still') === null")
        item["artworkUrl"] = str(plain(house, GREEN))
        player("nowPlaying.publish", session="airplay", state="playing", item=item | {"title": "Another"})
        page.until("document.querySelector('h1.title').textContent === 'Another'")
        shows(page, GREEN)
    page.until("document.querySelector('h1.title').textContent === 'Slow Ferry'")
    if has_cover:
        shows(page, ALBUMS[0][4][1])
    if not (pathlib.Path(house.programs) / "nowplaying-decode").exists():
        raise NotTested("stations need nowplaying-decode")
    with station(house) as address:
        house.call("queue.clear")
        house.call("queue.add", items=[address], play=True)
        state(house, "item.isLiveStream", True)
        page.until("document.querySelector('main').textContent.includes('Radio <b>Test</b>')")
        shows(page, BLUE)
        page.until("document.querySelector('.scrub-range').disabled")
        house.call("queue.clear")


def test_artwork_of_others(house, browser):
    """Pictures of external sessions and of stations."""
    house.fresh().call("play", index=1)
    tab = browser.tab(f"{house.address}/")
    look(house, tab)
    assert not tab.problems(), tab.problems()
    tab.close()
