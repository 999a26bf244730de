"""What stands in for Mopidy in the tests of mopidy-mpd: models, a core and a backend that send requests, and silent files."""
import os
import pathlib
import re
import select
import socket
import types
import unittest
import urllib.parse
import wave

from clients import until

QUIET = 0.15


class Own(unittest.SkipTest):
    """The test is of Mopidy, not of MPD's protocol."""


class Stranger:
    """A part of Mopidy that nothing stands in for."""

    def __init__(self, name):
        object.__setattr__(self, "_name", name)

    def __getattr__(self, name):
        raise Own(f"Mopidy's own: {self._name}.{name}")

    def __setattr__(self, name, value):
        raise Own(f"Mopidy's own: {self._name}.{name}")

    def _refuse(self, *_, **__):
        raise Own(f"Mopidy's own: {self._name}")

    __call__ = __iter__ = __eq__ = __getitem__ = _refuse


class Model:
    """A model of Mopidy; tracks are equal if their addresses are."""

    def __init__(self, **fields):
        self.uri, self.name = None, None
        self.__dict__.update(fields)

    def __eq__(self, other):
        return isinstance(other, Model) and self.uri == other.uri

    def __hash__(self):
        return hash(self.uri)

    def replace(self, **fields):
        return Model(**(self.__dict__ | fields))


class Reference(Model):
    """What Mopidy calls Ref."""

    track = directory = playlist = album = artist = classmethod(lambda kind, **fields: kind(**fields))


class Now:
    """A value that Mopidy would send later."""

    def __init__(self, value=None):
        self.value = value

    def get(self, timeout=None):
        return self.value


class Wire:
    """One connection."""

    def __init__(self, path):
        self.socket, self.rest, self.is_open, self.in_list = socket.socket(socket.AF_UNIX), b"", True, False
        self.socket.connect(path)
        self.answer(10)

    def ask(self, request):
        """The lines up to the end of the answer, or until nothing more comes."""
        self.socket.sendall(request.encode("utf-8", "surrogateescape") + b"\n")
        return self.answer(QUIET if self.is_silent(request) else 10)

    def answer(self, patience):
        lines = []
        while True:
            while b"\n" in self.rest:
                line, _, self.rest = self.rest.partition(b"\n")
                lines.append(line.decode("utf-8", "surrogateescape"))
                if re.match(rb"OK$|OK MPD |ACK ", line):
                    return lines
            if not select.select([self.socket], [], [], patience)[0]:
                return lines
            part = self.socket.recv(1 << 16)
            if not part:
                self.is_open = False
                return lines
            self.rest += part

    def is_silent(self, request):
        """True if a request has no answer, or none yet."""
        if re.match(r"command_list_(ok_)?begin", request):
            self.in_list = True
        elif request.startswith("command_list_end"):
            self.in_list = False
        return self.in_list or re.match(r"(noidle|idle|close|kill)\b|\s*$", request) is not None

    def fields(self, request):
        return dict(line.partition(": ")[::2] for line in self.ask(request))


class Box:
    """Our programs, and the files that stand for Mopidy's tracks."""

    def __init__(self, house):
        self.house, self.folder = house, pathlib.Path(house.folder) / "dummy"
        self.locked = f"{house.folder}/locked"
        (house.folder / "locked.conf").write_text(
            f"[mpd]\nbind = {self.locked}\nlocal-permissions = none\n"
            "password = topsecret@read,add,player,control,admin\n")
        house.start(house.programs / "nowplaying-mpd", "--socket", f"{house.folder}/control.sock",
                    "--config", f"{house.folder}/locked.conf")
        until(lambda: os.path.exists(self.locked) or None, "the bridge with a password")
        # Its queue is that in which playlists are made.
        Wire(house.socket).ask("newpartition lists")
        self.begin(None)

    def begin(self, wire):
        """A test begins: it knows no tracks and no ids. `wire`: its own connection."""
        self.wire, self.names, self.tracks, self.numbers = wire, {}, {}, {}

    def add(self, tracks):
        for track in tracks:
            path = self.folder / (re.sub(r"^dummy:/*", "", track.uri) + ".wav")
            path.parent.mkdir(parents=True, exist_ok=True)
            with wave.open(str(path), "wb") as file:
                file.setparams((1, 1, 8000, 0, "NONE", ""))
                file.writeframes(b"\x80" * (8 * (getattr(track, "length", None) or 60_000)))
            self.names[track.uri] = "file://" + urllib.parse.quote(str(path))
            self.tracks[track.uri] = track

    def number(self, own):
        """Mopidy's number of an id: it counts from 1 in each test, in the order of the queue."""
        if own not in self.numbers:
            for line in self.wire.ask("plchangesposid 0"):
                if line.startswith("Id: "):
                    self.numbers.setdefault(line[4:], str(len(self.numbers) + 1))
        return self.numbers.get(own, own)

    def to_us(self, request):
        request = re.sub(r'dummy:[^"\s]*', lambda found: self.names.get(found[0], found[0]), request)
        found = re.fullmatch(r'(\w+id)( "?)(\d+)("?)(.*)', request)
        if not found or found[1] == "addid":
            return request
        self.number("")
        own = {number: own for own, number in self.numbers.items()}
        rest = found[5]
        if found[1] == "swapid":
            rest = re.sub(r"\d+", lambda digits: own.get(digits[0], digits[0]), rest)
        return f"{found[1]}{found[2]}{own.get(found[3], found[3])}{found[4]}{rest}"

    def to_mopidy(self, line):
        def name(found):
            path = urllib.parse.unquote(found[0])
            return next((uri for uri, own in self.names.items() if urllib.parse.unquote(own) == path), found[0])
        line = re.sub(r"file:///\S*", name, line)
        found = re.fullmatch(r"(Id|songid|nextsongid): (\d+)", line)
        return f"{found[1]}: {self.number(found[2])}" if found else line

    def track(self, name):
        """The track of a name in an answer."""
        uri = self.to_mopidy(name)
        return self.tracks.get(uri) or Model(uri=uri)


class Core(types.SimpleNamespace):
    """Mopidy's core."""

    def __getattr__(self, name):
        raise Own(f"Mopidy's own: core.{name}")


class Tracks:
    """Mopidy's tracklist."""

    def __init__(self, case):
        self.wire, self.case = case.own, case

    def add(self, uris=(), tracks=(), at_position=None):
        for uri in [*uris, *(track.uri for track in tracks)]:
            self.wire.ask(self.case.box.to_us(f'add "{uri}"'))
        return Now()

    def get_tl_tracks(self):
        found, lines = [], self.wire.ask("playlistinfo")
        for line in lines:
            if line.startswith("file: "):
                found.append(types.SimpleNamespace(track=self.case.box.track(line[6:]), tlid=None))
            if line.startswith("Id: "):
                found[-1].tlid = int(self.case.box.number(line[4:]))
        return Now(found)

    def get_tracks(self):
        return Now([entry.track for entry in self.get_tl_tracks().get()])

    def get_length(self):
        return Now(int(self.wire.fields("status")["playlistlength"]))

    def get_version(self):
        return Now(int(self.wire.fields("status")["playlist"]))

    def clear(self):
        return Now(self.wire.ask("clear"))

    def __getattr__(self, name):
        found = re.fullmatch(r"(get|set)_(consume|random|repeat|single)", name)
        if not found:
            raise Own(f"Mopidy's own: core.tracklist.{name}")
        if found[1] == "get":
            return lambda: Now(self.wire.fields("status")[found[2]] == "1")
        return lambda value: Now(self.wire.ask(f"{found[2]} {int(value)}"))


class Playback:
    """Mopidy's playback."""

    def __init__(self, case):
        self.wire, self.case = case.own, case

    def get_state(self):
        return Now(self.wire.fields("status")["state"])

    def play(self, tlid=None):
        self.wire.ask(self.case.box.to_us("play" if tlid is None else f"playid {tlid}"))
        return Now()

    def pause(self):
        return Now(self.wire.ask("pause 1"))

    def stop(self):
        return Now(self.wire.ask("stop"))

    def next(self):
        return Now(self.wire.ask("next"))

    def seek(self, milliseconds):
        return Now(self.wire.ask(f"seekcur {milliseconds / 1000}"))

    def get_time_position(self):
        return Now(round(1000 * float(self.wire.fields("status").get("elapsed", 0))))

    def get_current_tl_track(self):
        song = self.wire.fields("currentsong")
        if "file" not in song:
            return Now(None)
        return Now(types.SimpleNamespace(track=self.case.box.track(song["file"]), tlid=int(self.case.box.number(song["Id"]))))

    def get_current_track(self):
        found = self.get_current_tl_track().get()
        return Now(found and found.track)

    def __getattr__(self, name):
        raise Own(f"Mopidy's own: core.playback.{name}")


class Mixer:
    """Mopidy's mixer."""

    def __init__(self, case):
        self.wire = case.own

    def get_volume(self):
        return Now(int(self.wire.fields("status")["volume"]))

    def set_volume(self, value):
        return Now(self.wire.ask(f"setvol {value}"))

    def __getattr__(self, name):
        raise Own(f"Mopidy's own: core.mixer.{name}")


class Library:
    """Mopidy's dummy backend: tracks alone."""

    def __init__(self, case):
        object.__setattr__(self, "case", case)

    def __setattr__(self, name, value):
        if name != "dummy_library":
            raise Own(f"Mopidy's own: backend.library.{name}")
        self.case.box.add(value)


class Lists:
    """Its playlists."""

    def __init__(self, case):
        self.case = case

    def set_dummy_playlists(self, lists):
        wire = Wire(self.case.box.house.socket)
        wire.ask("partition lists")
        for found in lists:
            if re.search(r"[\n\r/]", found.name):
                raise Own("Mopidy's own: names that MPD does not have")
            tracks = list(getattr(found, "tracks", ()))
            self.case.box.add(tracks)
            wire.ask("clear")
            for track in tracks:
                wire.ask(self.case.box.to_us(f'add "{track.uri}"'))
            wire.ask(f'save "{found.name}"')

    def __getattr__(self, name):
        raise Own(f"Mopidy's own: backend.playlists.{name}")


class Dispatcher:
    """Mopidy's dispatcher: if the connection has rights."""

    def __init__(self, case):
        object.__setattr__(self, "case", case)

    def __getattr__(self, name):
        if name != "authenticated":
            raise Own(f"Mopidy's own: dispatcher.{name}")
        return self.case.wire.is_open and self.case.wire.ask('ping ""')[-1:] is not None and \
            not self.case.wire.ask('status ""')[0].startswith("ACK [4")

    def __setattr__(self, name, value):
        raise Own(f"Mopidy's own: dispatcher.{name}")
