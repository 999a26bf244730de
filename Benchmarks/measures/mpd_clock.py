"""`elapsed` of `status` against a recording of the sound."""
import numpy as np

from harness.bridge import Bridge
from harness.sound import SoundServer
from measures import clock
from rivals.mpd import MPD


def run(bench):
    found = {}
    with SoundServer(bench.folder()) as server:
        players = [Bridge(bench.folder(), server, bench.program)]
        if "mpd" in bench.players:
            players.append(MPD(bench.folder(), server))
        for player in players:
            with player:
                errors = clock.playing(bench, server, player)
            steady = 1e3 * np.abs(errors["steady"])
            found[player.name] = {"elapsed against the recording, p95": float(np.percentile(steady, 95)),
                                  "elapsed against the recording": {kind: [1e3 * error for error in values]
                                                                    for kind, values in errors.items()}}
    return found
