"""The protocol tests of mopidy-mpd over a socket of nowplaying-mpd, as far as they are tests of MPD's protocol.

usage: mopidy_tests.py PROGRAMS SOURCES [TEST…]    the folder of our programs, and that of mopidy-mpd's source distribution

Mopidy itself is not there: its core and its backend are stood in for by requests and by silent files.  A test that needs
more of Mopidy than that is its own and is skipped.  A test that fails has to stand in OTHER with the reason.
"""
import collections
import pathlib
import random
import re
import sys
import tempfile
import types
import unittest

from clients import House
from mopidy_core import Box, Core, Dispatcher, Library, Lists, Mixer, Model, Own, Playback, Reference, Stranger, Tracks, Wire
from mopidy_other import CHANCE, OTHER


class BaseTestCase(unittest.TestCase):
    """Stands in for mopidy-mpd's own."""

    enable_mixer, box = True, None

    def get_config(self):
        return {"core": {"max_tracklist_length": 10000}, "mpd": {"password": None, "default_playlist_scheme": "dummy"}}

    def setUp(self):
        if not self.enable_mixer:
            raise Own("Mopidy's own: no mixer")
        config = self.get_config()
        if config["core"]["max_tracklist_length"] != 10000:
            raise Own("Mopidy's own: the length of its queue")
        self.own = Wire(self.box.house.socket)
        for line in ("stop", "clear", "repeat 0", "random 0", "single 0", "consume 0", "setvol 100"):
            self.own.ask(line)
        for line in self.own.ask("listplaylists"):
            if line.startswith("playlist: "):
                self.own.ask(f'rm "{line[10:]}"')
        self.box.begin(self.own)
        self.wire = Wire(self.box.locked if config["mpd"]["password"] else self.box.house.socket)
        self.connection = types.SimpleNamespace(response=[], **{
            name: Stranger(f"connection.{name}") for name in ("close", "stop", "disable_timeout", "enable_timeout")})
        self.core = Core(tracklist=Tracks(self), playback=Playback(self), mixer=Mixer(self),
                                          playlists=Stranger("core.playlists"), library=Stranger("core.library"))
        self.backend = types.SimpleNamespace(library=Library(self), playlists=Lists(self))
        self.dispatcher, self.session = Dispatcher(self), Stranger("session")
        self.context, self.uri_map, self.audio, self.mixer = (
            Stranger(name) for name in ("context", "uri_map", "audio", "mixer"))

    def tearDown(self):
        for wire in (self.own, self.wire):
            wire.socket.close()

    def send_request(self, request):
        self.connection.response = [self.box.to_mopidy(line) for line in self.wire.ask(self.box.to_us(request))]
        return self.connection.response

    def assertNoResponse(self):
        assert self.connection.response == [], self.connection.response

    def assertInResponse(self, value):
        assert value in self.connection.response, f"{value!r} is not in {self.connection.response!r}"

    def assertOnceInResponse(self, value):
        assert self.connection.response.count(value) == 1, f"{value!r} is not once in {self.connection.response!r}"

    def assertNotInResponse(self, value):
        assert value not in self.connection.response, f"{value!r} is in {self.connection.response!r}"

    def assertEqualResponse(self, value):
        assert self.connection.response == [value], f"{self.connection.response!r} is not {value!r}"

    def assertResponseLength(self, value):
        assert len(self.connection.response) == value, f"{self.connection.response!r} has not {value} lines"


def install(sources):
    """The modules that the tests import."""
    def module(name, **members):
        made = types.ModuleType(name)
        made.__dict__.update(members)
        made.__getattr__ = lambda missing: Stranger(f"{name}.{missing}")
        sys.modules[name] = made
        return made
    states = types.SimpleNamespace(PAUSED="pause", PLAYING="play", STOPPED="stop")
    for name in ("mopidy", "mopidy_mpd", "pykka", "mopidy_mpd.protocol.status", "mopidy_mpd.protocol.music_db",
                 "mopidy_mpd.protocol.stored_playlists", "mopidy_mpd.protocol.tagtype_list"):
        module(name)
    module("mopidy_mpd.protocol")
    module("mopidy.core", PlaybackState=states)
    module("mopidy.models", **{name: Model for name in ("Track", "Album", "Artist", "Playlist", "SearchResult")}, Ref=Reference)
    tests = module("tests")
    tests.__path__ = [str(sources / "tests")]
    shuffles = types.SimpleNamespace(tracklist=types.SimpleNamespace(random=random))
    protocol = module("tests.protocol", BaseTestCase=BaseTestCase, core=shuffles)
    protocol.__path__ = [str(sources / "tests" / "protocol")]
    tests.protocol = protocol


def suite(sources, wanted):
    loader, found = unittest.TestLoader(), unittest.TestSuite()
    for path in sorted((sources / "tests" / "protocol").glob("test_*.py")):
        for test in flat(loader.loadTestsFromName(f"tests.protocol.{path.stem}")):
            if not any(word in test.id() for word in CHANCE) and (
                    not wanted or any(word in test.id() for word in wanted)):
                found.addTest(test)
    return found


def flat(tests):
    for test in tests:
        yield from flat(test) if isinstance(test, unittest.TestSuite) else [test]


def main():
    sources, wanted = pathlib.Path(sys.argv[2]).resolve(), sys.argv[3:]
    install(sources)
    with tempfile.TemporaryDirectory(prefix="nowplaying-mopidy-") as folder, House(sys.argv[1], folder) as house:
        BaseTestCase.box = Box(house)
        result = unittest.TestResult()
        suite(sources, wanted).run(result)
    ours = lambda test: test.id().removeprefix("tests.protocol.")
    reasons, unknown, passed_anyway = collections.Counter(), [], set(OTHER)
    for test, text in result.failures + result.errors:
        passed_anyway.discard(ours(test))
        if ours(test) in OTHER:
            reasons[OTHER[ours(test)]] += 1
        else:
            unknown.append((ours(test), text))
    for name, text in unknown:
        print(f"FAILED   {name}\n{text}")
    skipped = len(result.skipped)
    good = result.testsRun - skipped - len(result.failures) - len(result.errors)
    print(f"mopidy-mpd: {result.testsRun} tests, {good} passed, {skipped} are Mopidy's own, "
          f"{sum(reasons.values())} differ: {dict(reasons)}")
    if not wanted and passed_anyway:
        print(f"these pass and are not to stand in OTHER: {sorted(passed_anyway)}")
    return 1 if unknown or (not wanted and passed_anyway) else 0


if __name__ == "__main__":
    sys.exit(main())
