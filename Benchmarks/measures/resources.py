"""Wakeups, CPU and memory while players play, are paused and idle.

In the windows all of them run at once, each on a sound server of its own, and go through the parts together: what the
host does meets all alike, the floor too. Their memory is looked at one by one, as they would share pages.
"""
import contextlib
import time

from harness.daemon import Daemon
from harness.floor import Pacat, decoding
from harness.process import Window, memory
from harness.sound import SoundServer


def run(bench):
    flac = ["flac", "--decode", "--silent", "--stdout", str(bench.material.music())]
    runs = decoding(flac)
    found = _together(bench)
    runs += decoding(flac)
    sending = found.pop("pacat")["cpu_per_minute"]
    floor = sum(runs) / len(runs) / 10 + sending
    sizes = {name: results[0] for name, results in bench.in_turn(
        "resources", lambda player, server: _alone(bench, player), players=found).items()}
    own = _own(bench)
    bench.note("resources", found | {"flac -d, 10 minutes": runs, "pacat": sending, "floor": floor, "pss alone": sizes, **own})

    def each(part, figure):
        return {name: parts[part][figure] for name, parts in found.items() if part in parts}

    return [
        *bench.rows("voluntary context switches a second, playing", each("playing", "switches_per_second"), "", 1.5),
        bench.row("the same beside a client of 50 ms latency", own["beside"]["switches_per_second"], "", 1.5),
        *bench.rows("the same, paused", each("paused", "switches_per_second"), "", 0),
        *bench.rows("the same, idle", each("idle", "switches_per_second"), "", 0),
        *bench.rows("CPU of 60 s of playing, against flac -d and pacat",
                    {name: used / floor for name, used in each("playing", "cpu_per_minute").items()}, "×", 1.2),
        *bench.rows("proportional memory, playing", {name: size / 2**20 for name, size in sizes.items()}, "MB", 9),
        bench.row(f"the same after {bench.items} items more", own["many"] / 2**20, "MB", 9),
    ]


def _together(bench):
    """{player: {part: window}}, and pacat's one."""
    with contextlib.ExitStack() as stack:
        players = {}

        def each(call):
            return _each(bench, players, call)

        def server():
            return stack.enter_context(SoundServer(bench.folder()))

        for name, kind in bench.players.items():
            try:
                players[name] = stack.enter_context(kind(bench.folder(), server()))
            except Exception:
                bench.failed("resources", name)
        time.sleep(1)
        found = {name: {"idle": window} for name, window in _windows(bench, players).items()}
        each(lambda player: player.load(bench.material.music()))
        each(lambda player: player.play())
        pacat = stack.enter_context(Pacat(server(), latency=2000))
        time.sleep(5)
        before = {}
        each(lambda player: before.update({player.name: player.position()}))
        window = Window(pacat.process.pid)
        for name, done in _windows(bench, players).items():
            found[name]["playing"] = done
        found["pacat"] = window.done()
        each(lambda player: _has_played(player, before))
        each(lambda player: player.pause())
        time.sleep(2)
        for name, done in _windows(bench, players).items():
            found[name]["paused"] = done
    return {name: parts for name, parts in found.items() if name in players or name == "pacat"}


def _each(bench, players, call):
    """{player: what the call found}; one that fails is left out from here on, the others go on."""
    found = {}
    for name, player in list(players.items()):
        try:
            found[name] = call(player)
        except Exception:
            bench.failed("resources", name)
            del players[name]
    return found


def _windows(bench, players):
    windows = _each(bench, players, lambda player: Window(player.pid))
    time.sleep(bench.window)
    return _each(bench, players, lambda player: windows[player.name].done())


def _has_played(player, before):
    """What costs nothing because it stands still is no result."""
    then, place = before[player.name]
    now, new = player.position()
    if abs((new - place) - (now - then)) > 1.5:
        raise RuntimeError(f"it played {new - place:.1f} s in {now - then:.1f} s")


def _alone(bench, player):
    player.load(bench.material.music())
    player.play()
    # The mean of some seconds: ours keeps pages of its program after a command, until it decodes again.
    time.sleep(12)
    sizes = []
    for _ in range(15):
        sizes.append(memory(player.pid)["pss"])
        time.sleep(1)
    return sum(sizes) / len(sizes)


def _own(bench):
    with SoundServer(bench.folder()) as server, Daemon(bench.program, bench.folder(), server) as daemon:
        daemon.load(bench.material.music())
        daemon.play()
        with Pacat(server):
            time.sleep(5)
            beside = _windows(bench, {daemon.name: daemon})[daemon.name]
        daemon.call("stop")
        before, after = _many(bench, daemon)
    return {"beside": beside, "pss before": before, "many": after}


def _many(bench, daemon):
    """Memory while the first of many items plays, and after skipping through all of them."""
    daemon.call("queue.clear")
    daemon.call("queue.add", items=[str(bench.material.short())] * bench.items)
    daemon.call("play", index=0)
    time.sleep(1)
    before = memory(daemon.pid)["pss"]
    for _ in range(bench.items - 1):
        daemon.next()
    time.sleep(0.5)
    after = memory(daemon.pid)["pss"]
    daemon.call("stop")
    return before, after
