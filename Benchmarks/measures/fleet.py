"""A thousand boxes on one broker: real bridges, one daemon in the place of all."""
import contextlib
import os
import subprocess
import time

from harness.daemon import Daemon
from harness.house import Broker, Topics
from harness.lines import until
from harness.process import cpu, memory, voluntary

BOXES, EVENTS = 1000, 10


def run(bench):
    with contextlib.ExitStack() as stack:
        daemon = stack.enter_context(Daemon(bench.program, bench.folder()))
        broker = stack.enter_context(Broker(bench.folder()))
        empty = memory(broker.process.pid)["pss"]
        topics = Topics(broker, "nowplaying/+/+")
        stack.callback(topics.close)
        begun = time.monotonic()
        boxes = _boxes(stack, bench, daemon, broker)
        until(lambda: topics.number("availability", b"online") == BOXES, "all boxes online", 300)
        up = time.monotonic() - begun
        full = memory(broker.process.pid)["pss"]
        daemon.call("queue.add", items=[str(bench.material.music())])
        daemon.call("play")
        until(lambda: topics.number("status", b"playing") == BOXES, "all boxes playing")
        _settle(topics)
        count, used, own = topics.count, cpu(broker.process.pid), sum(map(cpu, boxes))
        spans = []
        for turn in range(EVENTS):
            status = b"playing" if turn % 2 else b"paused"
            begun = time.monotonic()
            daemon.call("play" if turn % 2 else "pause")
            until(lambda: topics.number("status", status) == BOXES, "all boxes know")
            spans.append(time.monotonic() - begun)
            _settle(topics)
        delivered = topics.number("status", status)
        messages = (topics.count - count) / EVENTS / BOXES
        used, own = cpu(broker.process.pid) - used, sum(map(cpu, boxes)) - own
        quiet = _quiet(boxes)
        back, returned = _restart(daemon, broker)
        sizes = memory(boxes[0])
    bench.note("fleet", {"boxes": BOXES, "seconds until all are online": up, "seconds until all know an event": spans,
                         "broker pss": full, "broker pss, empty": empty, "bridge": sizes, "quiet": quiet,
                         "seconds until all are back": back})
    return [
        bench.row("boxes whose newest state the broker has", delivered, "", BOXES, least=True),
        bench.row("boxes whose newest state it has after a restart", returned, "", BOXES, least=True),
        bench.row("seconds until it has", back, "s", 10),
        bench.row("seconds until all have published an event, worst", max(spans), "s", 2),
        bench.row("messages of an event, for each box", messages, "", 8),
        bench.row("wakeups of all boxes in 20 quiet seconds", quiet, "", 0),
        bench.row("broker: memory for each box", (full - empty) / BOXES / 1024, "KiB", 64),
        bench.row("broker: CPU of an event, for each box, with one subscriber to all", used / EVENTS / BOXES * 1e6, "µs", 500),
        bench.row("bridge: memory of its own", sizes["uss"] / 1024, "KiB", 4096),
        bench.row("bridge: CPU of an event", own / EVENTS / BOXES * 1e6, "µs", 2000),
    ]


def _boxes(stack, bench, daemon, broker):
    """The pids of the bridges."""
    folder = bench.folder()
    folder.mkdir(parents=True)
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "XDG_RUNTIME_DIR": str(folder)}
    processes = []
    stack.callback(lambda: [process.wait() for process in processes])
    stack.callback(lambda: [process.terminate() for process in processes])
    for number in range(BOXES):
        path = folder / f"{number}.conf"
        path.write_text(f"[mqtt]\nhost = 127.0.0.1\nport = {broker.port}\nname = box-{number}\ncommands = yes\n")
        processes.append(subprocess.Popen(
            [str(bench.program.parent / "nowplaying-mqtt"), "--config", str(path), "--socket", str(daemon.path)],
            env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
    return [process.pid for process in processes]


def _settle(topics):
    """Until nothing has come for half a second."""
    seen, since = topics.take().count, time.monotonic()
    while time.monotonic() < since + 0.5:
        time.sleep(0.05)
        if topics.take().count != seen:
            seen, since = topics.count, time.monotonic()


def _quiet(boxes):
    """Wakeups of the boxes in 20 s."""
    def switches():
        return sum(sum(voluntary(pid).values()) for pid in boxes)

    before = switches()
    time.sleep(20)
    return switches() - before


def _restart(daemon, broker):
    """Kills the broker, changes the state while it is away, and starts it again, empty."""
    broker.kill()
    daemon.call("volume.set", volume=0.25)
    daemon.call("pause")
    broker.start()
    begun = time.monotonic()
    fresh = Topics(broker, "nowplaying/+/+")
    try:
        until(lambda: fresh.number("volume", b"0.25") == BOXES and fresh.number("status", b"paused") == BOXES
              and fresh.number("availability", b"online") == BOXES, "all boxes back", 120)
        return time.monotonic() - begun, fresh.number("volume", b"0.25")
    finally:
        fresh.close()
