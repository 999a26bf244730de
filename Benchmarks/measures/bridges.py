"""All bridges beside a daemon: what they cost, and that the daemon's own rows do not move."""
import contextlib
import pathlib
import subprocess
import time

from harness.daemon import Daemon
from harness.house import Broker, Topics, program
from harness.lines import until
from harness.process import Window
from harness.sound import SoundServer
from measures.queries import ask

BRIDGES = ("nowplaying-hooks", "nowplaying-mqtt", "nowplaying-mpris")


def run(bench):
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(SoundServer(bench.folder()))
        daemon = stack.enter_context(Daemon(bench.program, bench.folder(), server))
        broker = stack.enter_context(Broker(bench.folder()))
        environment, bus = _house(stack, bench, server, broker)
        bridges = {name: stack.enter_context(program(
            [bench.program.parent / name, "--socket", daemon.path], env=environment)) for name in BRIDGES}
        topics = Topics(broker, "nowplaying/bench/+")
        stack.callback(topics.close)
        until(lambda: topics.number("availability", b"online") == 1, "the state on the broker")
        until(lambda: "nowplayingd" in subprocess.run(
            ["playerctl", "-l"], env=environment, capture_output=True, text=True).stdout, "the player on the bus")
        processes = {"nowplayingd": daemon.pid, "mosquitto": broker.process.pid, "dbus-daemon": bus.pid,
                     **{name: process.pid for name, process in bridges.items()}}
        time.sleep(2)
        seconds = min(bench.window, 30)
        found = {"idle": _windows(processes, seconds)}
        daemon.load(bench.material.music())
        daemon.call("play")
        time.sleep(5)
        found["playing"] = _windows(processes, seconds)
        daemon.call("pause")
        time.sleep(1)
        found["paused"] = _windows(processes, seconds)
        asked = ask(bench, daemon)
        found["alone"] = _alone(daemon, broker, bus, bridges, seconds)
    bench.note("bridges", found)
    most = {name: max(found[part][name]["switches"] * 60 / found[part][name]["seconds"]
                      for part in ("idle", "playing", "paused")) for name in BRIDGES}
    own = {part: found[part]["nowplayingd"] for part in ("idle", "playing", "paused")}
    rows = [bench.row(f"wakeups a minute of {name}: idle, playing, paused", most[name], "", 0) for name in BRIDGES]
    rows += [bench.row(f"the same without a daemon, of {name}", found["alone"][name]["switches"], "", 0)
             for name in ("nowplaying-hooks", "nowplaying-mpris")]
    rows += [bench.row(f"proportional memory of {name}", found["playing"][name]["pss"] / 2**20, "MB", 9)
             for name in BRIDGES]
    return rows + [
        bench.row("wakeups of an hour without a broker, of nowplaying-mqtt", found["alone"]["an hour"], "", 600),
        bench.row("the daemon with all bridges: switches a second, playing", own["playing"]["switches_per_second"], "", 1.5),
        bench.row("the same, paused", own["paused"]["switches_per_second"], "", 0),
        bench.row("the same, idle", own["idle"]["switches_per_second"], "", 0),
        bench.row("the same: proportional memory, playing", own["playing"]["pss"] / 2**20, "MB", 9),
        bench.row("the same: state query against a bare echo, p50", asked["query µs"] / asked["echo µs"], "×", 2.5),
        bench.row("the same: state queries a second, pipelined", asked["pipelined"], "", 120_000, least=True),
    ]


def _house(stack, bench, server, broker):
    """The environment of the bridges, with a configuration, a hook and a bus of their own."""
    folder = bench.folder()
    folder.mkdir(parents=True)
    (folder / "hooks.d").mkdir()
    (folder / "nowplayingd.conf").write_text(
        f"[mqtt]\nhost = 127.0.0.1\nport = {broker.port}\nname = bench\ncommands = yes\ndiscovery = yes\nartwork = yes\n"
        f"[hooks]\ndirectory = {folder}/hooks.d\nactive-began = /bin/true\nplay = /bin/true\nquiet-time = 0.2\n")
    address = f"unix:path={folder}/bus"
    bus = stack.enter_context(program(["dbus-daemon", "--session", "--nofork", "--nopidfile", f"--address={address}"]))
    until(pathlib.Path(f"{folder}/bus").exists, "the bus")
    return server.environment() | {"XDG_CONFIG_HOME": str(folder), "XDG_RUNTIME_DIR": str(folder),
                                   "DBUS_SESSION_BUS_ADDRESS": address}, bus


def _windows(processes, seconds):
    windows = {name: Window(pid) for name, pid in processes.items()}
    time.sleep(seconds)
    return {name: window.done() for name, window in windows.items()}


def _alone(daemon, broker, bus, bridges, seconds):
    """Without a daemon, and then without a broker: what the attempts of an hour are, at the cost of the first three."""
    daemon.process.terminate()
    daemon.process.wait()
    # The hook of the end of sound comes after the quiet time.
    time.sleep(12)
    found = _windows({name: process.pid for name, process in bridges.items()}, seconds / 2)
    window = Window(bridges["nowplaying-mqtt"].pid)
    broker.kill()
    # Attempts 1, 3 and 7 s after the end, and no other before 15 s.
    time.sleep(9)
    found["nowplaying-mqtt, no broker"] = window.done()
    found["an hour"] = found["nowplaying-mqtt, no broker"]["switches"] / 3 * 62
    broker.start()
    return found
