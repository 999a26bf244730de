"""Programs that wait for the clock page: when the last of a thousand is awake, and an answer beside ten thousand."""
import contextlib
import subprocess
import time

import numpy as np

from harness.daemon import Connection, Daemon

WAITERS, CROWDS, CROWD, EVENTS = 1000, 10, 1000, 30


def run(bench):
    folder = bench.folder()
    folder.mkdir(parents=True)
    program = bench.compiled("waiters")
    with contextlib.ExitStack() as stack:
        daemon = stack.enter_context(Daemon(bench.program, bench.folder()))
        daemon.call("queue.add", items=[str(bench.material.music())])
        daemon.call("play")
        bare = _start(stack, program, "wake", folder / "bare.sock")
        assert bare.stdout.readline() == b"ready\n"
        paths = {"nowplayingd": daemon.path, "C": folder / "bare.sock"}
        waiters = {name: _start(stack, program, "wait", path, WAITERS) for name, path in paths.items()}
        commands = {name: stack.enter_context(Connection(path)) for name, path in paths.items()}
        # In turn, so that the machine is the same for both.
        spans = {name: [] for name in paths}
        for turn in range(EVENTS):
            for name in paths:
                spans[name].append(_round(waiters[name], commands[name], "play" if turn % 2 else "pause"))
        for process in waiters.values():
            process.kill()
        alone, crowded = _answers(stack, daemon, program)
    last = {name: np.median([span[1] for span in found]) for name, found in spans.items()}
    bench.note("waiters", {"first and last ms": spans, "answer ms": {"alone": alone, "crowded": crowded}})
    return [
        bench.row(f"{WAITERS} waiters, the last awake after a command, p50", last["nowplayingd"], "ms", round(1.1 * last["C"], 2)),
        bench.row("the same of a program in C that does nothing else", last["C"], "ms", None),
        bench.row("the first awake, p50", np.median([span[0] for span in spans["nowplayingd"]]), "ms", None),
        bench.row(f"answer to pause beside {CROWD * CROWDS} waiters, p50", np.median(crowded), "ms", None),
        bench.row("answer to pause without them, p50", np.median(alone), "ms", None)]


def _start(stack, program, *words):
    process = subprocess.Popen([program, *map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    stack.callback(process.wait)
    stack.callback(process.kill)
    return process


def _round(waiters, connection, method):
    """Milliseconds from a command to the first and to the last waiter that is awake."""
    waiters.stdin.write(b"\n")
    waiters.stdin.flush()
    assert waiters.stdout.readline() == b"ready\n"
    begun = time.monotonic_ns()
    connection.send(connection.request(method))
    first, last = map(int, waiters.stdout.readline().split())
    connection.line()
    return (first - begun) / 1e6, (last - begun) / 1e6


def _answers(stack, daemon, program):
    """Milliseconds of the answers to a pause, without and with a crowd that waits, in turn."""
    alone, crowded = [], []
    for _ in range(3):
        alone += _pauses(daemon)
        crowds = [_start(stack, program, "crowd", daemon.path, CROWD) for _ in range(CROWDS)]
        for crowd in crowds:
            assert crowd.stdout.readline() == b"ready\n"
        crowded += _pauses(daemon)
        for crowd in crowds:
            crowd.kill()
            crowd.wait()
    return alone, crowded


def _pauses(daemon):
    spans = []
    for _ in range(EVENTS // 3):
        daemon.call("play")
        time.sleep(0.5)
        begun = time.monotonic()
        daemon.call("pause")
        spans.append((time.monotonic() - begun) * 1e3)
        time.sleep(0.5)
    return spans
