"""The page below a path of a host, in Chromium behind nginx, by the recipe of the manual."""

import contextlib
import http.server
import json
import shutil
import threading

from browser import NotTested, until
from proxies import Door, free_port, pair, recipe, running

BASE = "/home/music"


@contextlib.contextmanager
def other_site():
    """Another program of the host, which notes the cookies that it gets."""
    cookies = []

    class Other(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            cookies.append(self.headers.get("Cookie"))
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<title>other</title>other")

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Other)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1], cookies
    finally:
        server.shutdown()


@contextlib.contextmanager
def host(house, other):
    """nginx with the page below a path and another site around it. Returns its port."""
    if shutil.which("nginx", path="/usr/sbin:/usr/bin") is None:
        raise NotTested("nginx is not installed")
    inside, outside = free_port(), free_port()
    house.end(house.web)
    house.begin_web(more=f"proxy-bind = localhost:{inside}\naddress = http://localhost:{outside}\nbase-path = {BASE}\n")
    settings = house.folder / "nginx.conf"
    paths = "".join(f"{name}_temp_path {house.folder}/nginx-{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    place = recipe("location / {").replace("localhost:8089", f"localhost:{inside}").replace("location / {", f"location {BASE}/ {{")
    settings.write_text(
        f"daemon off; master_process off; pid {house.folder}/nginx.pid; error_log stderr; events {{}}\n"
        f"http {{ access_log off; absolute_redirect off; {paths}\n"
        + recipe("map $http_upgrade")
        + f"server {{ listen 127.0.0.1:{outside};\n{place}\nlocation / {{ proxy_pass http://127.0.0.1:{other}; }}\n}}}}\n"
    )
    try:
        with running(house, "/usr/sbin/nginx", "-p", house.folder, "-c", settings):
            until(lambda: Door(outside).ask("GET", f"{BASE}/").status == 200, "nginx")
            yield outside
    finally:
        # Other tests of the same house count its devices.
        for device in house.web_call("devices.list")["devices"]:
            house.web_call("devices.revoke", id=device["id"])
        house.end(house.web)
        house.begin_web()


def test_below_path(house, browser):
    """Page, pairing, socket, pictures and announcements below a path; the cookie reaches no other path of the host."""
    house.fresh()
    house.call("play", index=1)
    with other_site() as (other, cookies), host(house, other) as port:
        place = f"http://localhost:{port}{BASE}/"
        code = house.web_call("pair.begin", role="control")
        assert code["url"].startswith(f"{place}#code="), code
        tab = browser.tab(f"http://localhost:{port}{BASE}")
        tab.until(f"location.pathname === '{BASE}/' && document.querySelector('.pairing #code') !== null")
        tab.go("about:blank")
        tab.until("location.protocol === 'about:'")
        tab.go(code["url"])
        tab.until(f"document.querySelector('#code')?.value === {code['code']!r} && location.hash === ''")
        assert tab.run("location.pathname") == f"{BASE}/"
        tab.click(".pairing .primary")
        tab.until("document.querySelector('.title')?.textContent === 'Slow Ferry'")
        tab.until("document.querySelector('img.still')?.naturalWidth > 0")
        assert tab.run("new URL(document.querySelector('img.still').src).pathname").startswith(f"{BASE}/artwork/")
        # The socket carries commands.
        tab.click(".play-button")
        until(lambda: house.state["state"] == "paused" or None, "pause")
        requests = [one for one in tab.requests() if not one.startswith(("data:", "about:", "blob:"))]
        own = [one for one in requests if f"localhost:{port}" in one]
        assert any("/artwork/" in one for one in own), own
        sockets = [one["params"]["url"] for one in list(tab.events) if one["method"] == "Network.webSocketCreated"]
        assert sockets and set(sockets) == {f"ws://localhost:{port}{BASE}/rpc"}, sockets
        outside = [one for one in own if not one.split(f"localhost:{port}", 1)[1].startswith(BASE)]
        assert all(one.endswith("/favicon.ico") for one in outside), outside
        # Each further view, with its own modules.
        for view in ("queue", "library", "more", "sessions", "announce", "devices"):
            tab.run(f"void (location.hash = '#/{view}')")
            tab.until(f"document.body.dataset.view === {view!r} && document.querySelector('main section h1') !== null")
        manifest = tab.run("fetch(document.querySelector('link[rel=manifest]').href).then((one) => one.json())")
        assert manifest["start_url"] == "./" and manifest["scope"] == "./", manifest
        stored = [one for one in tab.send("Network.getCookies", urls=[place])["cookies"] if one["name"].startswith("nowplaying-")]
        assert [(one["path"], one["httpOnly"], one["sameSite"]) for one in stored] == [(BASE, True, "Strict")], stored
        # A neighbour on the same host gets no token.
        cookies.clear()
        tab.go(f"http://localhost:{port}/other")
        tab.until("document.title === 'other'")
        tab.go(f"http://localhost:{port}{BASE}ian/other")
        tab.until(f"location.pathname === '{BASE}ian/other' && document.title === 'other'")
        assert cookies and not any("nowplaying" in (one or "") for one in cookies), cookies
        tab.go(place)
        tab.until("document.querySelector('.title')?.textContent === 'Slow Ferry'")
        tab.close()


def test_below_path_for_programs(house, _):
    """A program below a path: pairing, calls and events; outside of the path and by other headers there is nothing."""
    with other_site() as (other, _), host(house, other) as port:
        door = Door(port, base=BASE)
        assert door.call("play")[0] == 401
        pair(house, door)
        assert json.loads(door.call("hello")[1])["result"]["role"] == "control"
        assert door.socket()["received"] > 0
        assert b"\ndata: {" in door.first_event()
        direct = Door(house.port)
        assert direct.ask("GET", "/index.html", X_Forwarded_Prefix="/").status == 404
        assert direct.ask("GET", f"{BASE}/index.html").status == 200
