"""The figures of the page and of nowplaying-web, for a quiet machine and the release build.

usage: figures.py PROGRAMS    the folder of the programs. Status 1 when a figure misses its goal.
"""

import http.server
import pathlib
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from browser import Browser, until
from controls import begin
from house import House
from link import Link
from states import error, exact

SECONDS = 60


class Table:
    """Figures beside their goals."""

    def __init__(self):
        self.missed = 0

    def row(self, name, value, goal, unit):
        isMissed = value > goal
        self.missed += isMissed
        print(f"{name:<58} {value:>9.3f} {unit:<3} goal {goal:g} {unit}{'   MISSED' if isMissed else ''}", flush=True)


def rest(house, browser, table):
    """Scripts of a page that is paused, and of one that is hidden; a processor's share while it plays."""
    tab = begin(house, browser)
    house.call("pause")
    tab.until("document.querySelector('.play-button').ariaLabel === 'Play'")
    hidden = browser.tab(f"{house.address}/")
    hidden.until("!document.body.matches('.is-empty')")
    hidden.hide(True)
    hidden.until("document.visibilityState === 'hidden'")
    browser.send("Target.activateTarget", {"targetId": tab.target})
    tab.until("document.visibilityState === 'visible'")
    time.sleep(3)
    before = [one.metric("ScriptDuration") for one in (tab, hidden)]
    time.sleep(SECONDS)
    for name, early, one in zip(("paused", "hidden"), before, (tab, hidden)):
        table.row(f"scripts of a page that is {name}, in {SECONDS} s", 1000 * (one.metric("ScriptDuration") - early), 0, "ms")
    hidden.hide(False)
    hidden.close()
    house.call("play")
    tab.until("document.querySelector('.play-button').ariaLabel === 'Pause'")
    time.sleep(3)
    begun, early = time.monotonic(), tab.metric("TaskDuration")
    time.sleep(SECONDS)
    share = (tab.metric("TaskDuration") - early) / (time.monotonic() - begun)
    table.row(f"main thread of a page that plays, in {SECONDS} s", 100 * share, 2, "%")
    tab.close()


def paint(house, browser, table, turns=15):
    """First contentful paint beside that of a static page, in turns, with an empty cache and with a full one."""

    class Static(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = b"<!doctype html><title>static</title><p>static"
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Static)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    house.fresh().call("play", index=1)
    house.call("pause")
    ours, static = f"{house.address}/", f"http://localhost:{server.server_port}/"
    for name, is_empty in (("empty", True), ("full", False)):
        found = {ours: [], static: []}
        for _ in range(turns):
            for address, times in found.items():
                tab = browser.tab()
                tab.send("Network.setCacheDisabled", cacheDisabled=is_empty)
                tab.go(address)
                times.append(
                    tab.until("performance.getEntriesByName('first-contentful-paint')[0]?.startTime")
                )
                # Programs without their page would be faster.
                assert address == static or tab.run("document.querySelector('#main') !== null"), "nowplaying-web has no page"
                tab.close()
        middle = {address: statistics.median(times) for address, times in found.items()}
        table.row(f"first contentful paint, {name} cache, less a static page", middle[ours] - middle[static], 60, "ms")
        print(f"    page {middle[ours]:.1f} ms, static page {middle[static]:.1f} ms, medians of {turns}")
    server.shutdown()


def memory(process):
    """Proportional set size of the process in megabytes."""
    for line in pathlib.Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1024
    return 0.0


def sockets(house, table, folder):
    """A pause at 200 sockets of one client in C; the memory of the bridge with 20, and when all have left."""
    program = folder / "sockets"
    source = pathlib.Path(__file__).with_name("sockets.c")
    subprocess.run(["cc", "-O2", "-o", program, source], check=True)
    house.fresh().call("play", index=1)

    def run(count, rounds, then):
        client = subprocess.Popen(
            [program, str(house.port), str(count), str(rounds)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        lines = [client.stdout.readline().split() for _ in range(rounds)]
        then()
        client.communicate("\n")
        return [[float(number) for number in line] for line in lines]

    run(20, 1, lambda: table.row("memory of nowplaying-web with 20 sockets (PSS)", memory(house.web), 8, "MB"))
    before = memory(house.web)
    found = run(200, 20, lambda: print(f"    memory with 200 sockets: {memory(house.web):.1f} MB"))
    table.row("pause at the last of 200 sockets, median of 20", statistics.median(last for _, last in found), 20, "ms")
    print(f"    worst {max(last for _, last in found):.1f} ms, middle socket {statistics.median(half for half, _ in found):.1f} ms")
    time.sleep(4)
    table.row("memory that is left when 200 sockets have gone", memory(house.web) - before, 1, "MB")


def position(house, browser, table):
    """The page's position beside the daemon's."""
    tab = exact(house, browser, house.address, 0.005)
    table.row("position on loopback", 1000 * error(house, tab), 5, "ms")
    tab.close()
    link = Link(house.port, 0.03)
    worst = 0.0
    for _ in range(5):
        tab = exact(house, browser, f"http://localhost:{link.port}", 0.020)
        worst = max(worst, error(house, tab))
        tab.close()
    table.row("position with 30 ms of jitter, worst of 5 pages", 1000 * worst, 20, "ms")


def main():
    table = Table()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = pathlib.Path(name)
        browser = Browser(folder / "browser")
        house = None
        try:
            house = House(sys.argv[1], name, browser)
            until(lambda: house.call("library.status")["scan"] is None, "the scan", 60)
            sockets(house, table, folder)
            paint(house, browser, table)
            position(house, browser, table)
            rest(house, browser, table)
        finally:
            if house is not None:
                house.close()
            browser.close()
    return 1 if table.missed else 0


if __name__ == "__main__":
    sys.exit(main())
