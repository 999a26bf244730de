#!/usr/bin/env python3
"""Sends one script of requests to mpd and to nowplaying-mpd, and compares their answers.

usage: differential.py PROGRAMS [REQUESTS [SEED]]

PROGRAMS is the folder of nowplayingd, nowplaying-library and nowplaying-mpd.  The script is made from the seed.  Each
answer is brought into one form first: ids, times, the order of rows and the length of lossy sound may differ.  What
differs after that must be one of the rules below, and each rule stands in DIFFERENCES.md.
"""
import collections
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

from servers import Server, house, scanned, wait

HERE = os.path.dirname(os.path.abspath(__file__))
TAGS = ["Artist", "Album", "AlbumArtist", "Title", "Track", "Genre", "Date", "Disc", "Composer", "ArtistSort",
        "AlbumArtistSort", "AlbumSort", "artist", "GENRE", "MUSICBRAINZ_ALBUMID"]
VALUES = ["Anna", "anna", "Björk", "BJÖRK", "straße", "STRASSE", "AC/DC", "It's", 'The "Quoted"', "Back\\slash", "",
          "Jazz", "jazz", "1999", "12", "A", "( )", "Song", "song 1", "東京", "e", "x:y", "a  b", "nobody", "é",
          "0a1b2c3d-0000-4000-8000-000000000002", "Zoë  Two Spaces"]
NAMES = ["one", "two", "three", "four"]
LOSSY = (".mp3", ".ogg", ".opus", ".m4a")


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def blocks(lines):
    """Rows of an answer: a row begins with a file, a folder, a playlist or a tag alone."""
    rows = []
    for line in lines:
        key = line.split(": ")[0]
        begins = key in ("file", "directory", "playlist", "channel", "outputid", "plugin", "cpos", "songs")
        if begins or not rows or line == "OK" or line.startswith(("ACK ", "list_OK")):
            rows.append([line])
        else:
            rows[-1].append(line)
    return rows


def normal(lines):
    """Rows in one form, sorted."""
    rows = []
    for row in blocks(lines):
        head = row[0]
        kept = []
        for line in row[1:]:
            key = line.split(": ")[0]
            if key in ("Added", "playtime", "db_playtime", "db_update", "uptime", "Id"):
                continue
            if key == "Last-Modified" and not head.startswith("file: "):
                continue
            if key in ("Format", "Time", "duration") and head.endswith(LOSSY + (".wv",)):
                continue
            if key == "Format":
                line = re.sub(r":(24|32):", ":B:", line)
            kept.append(line)
        if head.startswith("Id: "):
            head = "Id: N"
        if head.startswith("cpos"):
            kept = []
        rows.append(tuple([head] + sorted(kept)))
    return sorted(rows)


def failure(lines):
    return lines[-1] if lines and lines[-1].startswith("ACK ") else None


def code(lines):
    """The number and the place of a failure, without its words."""
    found = failure(lines)
    return re.sub(r"\].*", "]", found) if found else None


# Name in DIFFERENCES.md, and when it holds: for a request with both answers.
RULES = [
    ("words", lambda request, ours, theirs: code(ours) is not None and code(ours) == code(theirs)),
    ("newer", lambda request, ours, theirs: "unknown command" in str(failure(theirs)) or re.search(
        r"starts_with|added-since|_c[is]\b|prio >=|save \S+ (create|append|replace)|listplaylist(info)? \S+ \d"
        r"|sticker (inc|dec)|sticker \w+ (playlist|filter|Album)|list \w+ .*window|titlesort|window \d+:\d*$"
        r"|playlist(find|search) .*sort|tagtypes (available|reset)|consume oneshot|listplaylist(info)?$", request,
        re.I) is not None),
    ("settings", lambda request, ours, theirs: re.match(
        r"(setvol|volume|getvol|crossfade|status|stats|outputs|urlhandlers|commands|notcommands|decoders|config|mixramp)",
        request) is not None),
    ("sort", lambda request, ours, theirs: " sort " in request and len(blocks(ours)) == len(blocks(theirs))),
    ("order", lambda request, ours, theirs: "window" in request and len(blocks(ours)) == len(blocks(theirs))),
    ("slashes", lambda request, ours, theirs: "//" in request or request.endswith('/"') or '"/"' in request),
    ("albumart", lambda request, ours, theirs: request.startswith("albumart")),
    ("dots", lambda request, ours, theirs: '".' in request),
    ("listfiles", lambda request, ours, theirs: request.startswith("listfiles")),
    ("format", lambda request, ours, theirs: "playlist" in request and "AudioFormat" in request),
    ("relative", lambda request, ours, theirs: re.match(r"move(id)? \S+ [+-]", request) is not None
     and None not in (failure(ours), failure(theirs))),
    ("nested", lambda request, ours, theirs: "Word expected" in str(failure(theirs)) and not failure(ours)),
    ("comments", lambda request, ours, theirs: request.startswith("tagtypes")),
    ("lists", lambda request, ours, theirs: request.startswith("playlistdelete") and not failure(theirs)
     and str(code(ours)).startswith("ACK [50")),
    ("missing", lambda request, ours, theirs: "unknown command" in str(failure(ours))),
]


class Script:
    """Requests from a seed."""

    def __init__(self, seed, files, folders):
        self.random = random.Random(seed)
        self.files = files
        self.folders = folders

    def file(self):
        return quoted(self.random.choice(self.files + ["nope.flac", "", "a/../b"]))

    def folder(self):
        return quoted(self.random.choice(self.folders + ["", "/", "nope"]))

    def value(self):
        return quoted(self.random.choice(VALUES))

    def tag(self):
        return self.random.choice(TAGS)

    def expression(self, depth=0):
        choice = self.random.randrange(8 if depth < 2 else 6)
        value = self.random.choice(VALUES).replace("\\", "\\\\").replace("'", "\\'")
        if choice < 3:
            return f"({self.tag()} {self.random.choice(['==', '!=', 'contains', '!contains'])} '{value}')"
        if choice == 3:
            return f"(any {self.random.choice(['==', '!=', 'contains'])} '{value}')"
        if choice == 4:
            return self.random.choice(["(Artist =~ '^A')", "(Title !~ 'Song')", "(base 'Anna')",
                                       "(modified-since '1600000010')", "(AudioFormat =~ '44100:*:2')",
                                       "(Title starts_with 'So')", "(added-since '2020-01-01')",
                                       "(file == '056.flac')", "(Artist == 'x'", "(Artist = 'x')", "(Foo == 'x')"])
        if choice == 5:
            return f"({self.tag()} == '')"
        if choice == 6:
            return f"(!{self.expression(depth + 1)})"
        return "(" + " AND ".join(self.expression(depth + 1) for _ in range(self.random.randint(1, 3))) + ")"

    def filter(self):
        if self.random.random() < 0.5:
            return " ".join(
                f"{self.random.choice(TAGS + ['any', 'file', 'base'])} {self.value()}"
                for _ in range(self.random.randint(1, 2)))
        return quoted(self.expression())

    def index(self):
        return self.random.choice(["0", "1", "2", "3", "99", "-1", "0:2", "1:", "5:1", "x", "", "+0", "4294967296", "0:"])

    def request(self):
        r = self.random
        name = r.choice(NAMES)
        window = r.choice(["", "", "", " window 0:5", " window 3:8", " window 9:", " window 5:1", " window x"])
        choices = [
            lambda: f"{r.choice(['find', 'search'])} {self.filter()}{r.choice(['', '', ' sort Title', ' sort -Date'])}{window}",
            lambda: f"{r.choice(['find', 'search'])} {self.filter()}",
            lambda: f"{r.choice(['count', 'count', 'searchcount'])} {self.filter()}{r.choice(['', ' group ' + self.tag()])}",
            lambda: f"list {self.tag()}{r.choice(['', ' ' + self.filter()])}{''.join(' group ' + self.tag() for _ in range(r.randrange(3)))}",
            lambda: f"list {r.choice(['album ' + self.value(), 'file', 'any', 'Foo', 'filename artist Anna', 'titlesort'])}",
            lambda: f"{r.choice(['lsinfo', 'listall', 'listallinfo', 'listfiles'])} {r.choice([self.folder, self.file])()}",
            lambda: f"add {self.file()}{r.choice(['', '', ' 0', ' 1', ' 99', ' +0', ' x'])}",
            lambda: f"addid {self.file()}{r.choice(['', '', ' 0', ' 99'])}",
            lambda: f"delete {self.index()}", lambda: "deleteid {id}",
            lambda: f"move {self.index()} {self.index()}", lambda: f"moveid {{id}} {self.index()}",
            lambda: f"swap {self.index()} {self.index()}", lambda: "swapid {id} {id}",
            lambda: f"prio {r.choice(['1', '255', '256', 'x'])} {self.index()}",
            lambda: f"playlistinfo {self.index()}", lambda: "playlistinfo", lambda: "playlistid {id}",
            lambda: "playlist", lambda: "plchanges 0", lambda: f"plchangesposid 0 {self.index()}",
            lambda: f"{r.choice(['playlistfind', 'playlistsearch'])} {self.filter()}",
            lambda: f"findadd {self.filter()} window 0:0", lambda: "clear" if r.random() < 0.2 else "status",
            lambda: f"save {name}", lambda: f"rm {name}", lambda: f"rename {name} {r.choice(NAMES)}",
            lambda: f"playlistadd {name} {self.file()}{r.choice(['', ' 0', ' 99'])}", lambda: f"playlistclear {name}",
            lambda: f"playlistdelete {name} {self.index()}",
            lambda: f"playlistmove {name} {r.choice('0123')} {r.choice('0123')}", lambda: f"listplaylist {name}",
            lambda: f"listplaylistinfo {name}", lambda: "listplaylists",
            lambda: f"load {name}{r.choice(['', ' 0:1', ' 1:', ' 5:1'])}", lambda: 'listplaylist "list one.m3u"',
            lambda: f"sticker {r.choice(['get', 'delete', 'list'])} song {self.file()} {r.choice(['rating', 'note', ''])}",
            lambda: f"sticker set song {self.file()} {r.choice(['rating', 'note'])} {r.choice(['0', '4', '10'])}",
            lambda: f"sticker find song {self.folder()} {r.choice(['rating', 'note'])}{r.choice(['', ' = 4', ' > 3', ' ? 1'])}",
            lambda: f"{r.choice(['albumart', 'readpicture'])} {self.file()} {r.choice(['0', '96', '97', 'x'])}",
            lambda: f"{r.choice(['repeat', 'random', 'consume', 'single'])} {r.choice(['0', '1', '2', 'oneshot', ''])}",
            lambda: f"replay_gain_mode {r.choice(['off', 'track', 'album', 'auto', 'x'])}",
            lambda: r.choice(["replay_gain_status", "currentsong", "ping", "stats", "outputs", "urlhandlers", "stop",
                              "next", "previous", "pause", "pause 1", "clearerror", "channels", "readmessages"]),
            lambda: f"subscribe {r.choice(NAMES + ['a b', ''])}".replace("a b", '"a b"'),
            lambda: f"unsubscribe {name}", lambda: f"sendmessage {name} hello",
            lambda: f"tagtypes {r.choice(['', 'all', 'clear', 'enable Artist', 'disable Title', 'foo', 'enable Foo'])}",
            lambda: f"binarylimit {r.choice(['64', '63', '8192', 'x'])}", lambda: f"password {name}",
            lambda: r.choice(["foo", "find", "find artist", 'find "artist', "find artist \"x\"y", "play 99999", "seek 9999 0",
                              "seekid 9999 0", "seekcur 1", "playid 99999", "idle foo", "crossfade -1", "add", "add a b c",
                              "rm", "Find artist x", "status x", "find artist 'x'", "  status", "list", "count",
                              "update nope/../x", "playlistid x", "delete", "move 0", "sticker", "sticker get", "\t", "",
                              "GET / HTTP/1.0", "command_list_end", "noidle x", "lsinfo a b", "config", "kill x" * 0 + "ping"]),
        ]
        return r.choice(choices)()


def compare(programs, count, seed, folder):
    if not shutil.which("mpd"):
        sys.exit("mpd is not installed: nothing to compare with")
    music = os.path.join(folder, "music")
    version = subprocess.run(["mpd", "--version"], capture_output=True, text=True).stdout.split("\n")[0]
    print(version)
    # MPD 0.24 reads one artist of these.
    single = [] if " 0.23." in version else ["wav", "aiff"]
    subprocess.run([sys.executable, os.path.join(HERE, "make_music.py"), music, *single], check=True)
    processes, ports, revive = house(folder, programs, music)
    seen, unknown = collections.Counter(), []
    try:
        ours, theirs = Server(ports[0]), Server(ports[1])
        theirs.ask(["update"])
        wait(scanned(ours), "scan of the library", os.path.join(folder, "log"))
        wait(scanned(theirs), "scan of mpd", os.path.join(folder, "log"))
        files = [line[6:] for line in theirs.ask(["listall"]) if line.startswith("file: ")]
        folders = [line[11:] for line in theirs.ask(["listall"]) if line.startswith("directory: ")]
        script = Script(seed, files, folders)
        passwords = 0
        dead = False
        for number in range(count):
            if dead or number % 40 == 0:
                dead = False
                # Both go on from one state, so that one difference is not the cause of others.
                for server in (ours, theirs):
                    for line in ["clear", "random 0", "tagtypes all", "binarylimit 8192"]:
                        server.ask([line])
                    for name in NAMES:
                        server.ask([f"rm {name}"])
                    for file in files[:4]:
                        server.ask([f"add {quoted(file)}"])
            lines = [script.request()]
            if script.random.random() < 0.05:
                lines = [script.random.choice(["command_list_begin", "command_list_ok_begin"])] + [
                    script.request() for _ in range(script.random.randint(0, 4))] + ["command_list_end"]
                lines = [line for line in lines if line and "command_list_end" not in line[:-16]]
            # A source waits longer after each wrong password: three of them show the answer.
            for index, line in enumerate(lines):
                if line.startswith("password "):
                    passwords += 1
                    lines[index] = line if passwords <= 3 else "ping"
            answers = []
            place = script.random.randrange(6)
            for server in (ours, theirs):
                ids = server.ids() if any("{id}" in line for line in lines) else []
                mine = [line.replace("{id}", ids[place] if place < len(ids) else "987654") for line in lines]
                try:
                    answers.append(server.ask(mine))
                except OSError:
                    # Debian's mpd 0.24.4 dies of some requests. One of ours that dies is a failure.
                    if server is ours or not revive():
                        raise
                    dead = True
                    # Neither is subscribed to anything then.
                    ours.connect()
                    theirs.connect()
            if dead:
                print("mpd died of:", " ; ".join(lines))
                seen["died"] += 1
                continue
            # What a line that is no request closes, is the same for both.
            if normal(answers[0]) == normal(answers[1]):
                seen["same"] += 1
                continue
            request = " ; ".join(lines)
            rule = next((name for name, holds in RULES if any(holds(line, *answers) for line in lines)), None)
            seen[rule or "UNKNOWN"] += 1
            if rule is None:
                unknown.append((request, *answers))
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()
    return seen, unknown


def main():
    programs = os.path.abspath(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 3000
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 24
    with open(os.path.join(HERE, "DIFFERENCES.md"), encoding="utf-8") as file:
        text = file.read()
    for name, _ in RULES:
        if f"## {name}\n" not in text:
            sys.exit(f"DIFFERENCES.md has no section “{name}”")
    folder = tempfile.mkdtemp(prefix="mpd-differential-")
    try:
        seen, unknown = compare(programs, count, seed, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for request, ours, theirs in unknown[:40]:
        print("DIFFERENT", request)
        one, other = normal(ours), normal(theirs)
        for row in [row for row in one if row not in other][:2]:
            print("    ours:", row)
        for row in [row for row in other if row not in one][:2]:
            print("    mpd: ", row)
    print("seed", seed, dict(seen.most_common()))
    sys.exit(1 if unknown else 0)


if __name__ == "__main__":
    main()
