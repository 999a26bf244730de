"""A real Prometheus collects the figures of nowplaying-web, by the recipe of the manual."""

import json
import shutil
import urllib.parse
import urllib.request

from browser import NotTested, until
from proxies import Door, free_port, recipe, running

LABELS = {"__name__", "instance", "job", "program", "state", "mode", "version"}


def test_prometheus(house):
    """A paired device with the role read gets the figures; Prometheus reads all of them, with no labels but words of ours."""
    if shutil.which("prometheus") is None:
        raise NotTested("prometheus is not installed")
    door, port = Door(free_port(), base="/music"), free_port()
    house.end(house.web)
    house.begin_web(more=f"proxy-bind = localhost:{door.port}\nbase-path = /music\nmetrics = yes\nanonymous = read\n")
    try:
        assert door.ask("GET", "/metrics").status == 401
        code = house.web_call("pair.begin", role="read")["code"]
        body = json.dumps({"code": code, "name": "Prometheus"})
        answer = door.ask("POST", "/pair", body, Content_Type="application/json")
        token = house.folder / "nowplaying.token"
        token.write_text(json.loads(answer.read())["token"])
        block = recipe("scrape_configs:").replace("box:8088", f"localhost:{door.port}")
        block = block.replace("/etc/prometheus/nowplaying.token", str(token)) + "    metrics_path: /music/metrics\n"
        settings = house.folder / "prometheus.yml"
        settings.write_text("global:\n  scrape_interval: 1s\n" + block)
        words = ["prometheus", f"--config.file={settings}", f"--storage.tsdb.path={house.folder}/prometheus"]
        with running(house, *words, f"--web.listen-address=127.0.0.1:{port}"):

            def ask(path, **query):
                url = f"http://127.0.0.1:{port}/api/v1/{path}?{urllib.parse.urlencode(query)}"
                return json.load(urllib.request.urlopen(url, timeout=20))["data"]

            def value(name):
                found = ask("query", query=name)["result"]
                return float(found[0]["value"][1]) if found else None

            until(lambda: value('nowplaying_up{program="daemon"}') == 1, "the figures of the daemon", 60)
            until(lambda: value('nowplaying_up{program="library"}') == 1, "the figures of the library", 60)
            until(lambda: value("nowplaying_library_tracks") > 0, "tracks", 60)
            for target in ask("targets")["activeTargets"]:
                assert target["health"] == "up" and not target["lastError"], target
            series = ask("series", **{"match[]": '{__name__=~"nowplaying_.*"}'})
            assert len({one["__name__"] for one in series}) >= 15, series
            assert all(set(one) <= LABELS for one in series), series
            # Prometheus knows kinds and units by OpenMetrics.
            facts = ask("metadata", metric="nowplaying_library_duration_seconds")["nowplaying_library_duration_seconds"][0]
            assert (facts["type"], facts["unit"]) == ("gauge", "seconds"), facts
    finally:
        house.end(house.web)
        house.begin_web()
