"""The whole product on disks that take nothing more: a read-only root, an overlay in memory as Raspberry Pi OS has it, a full disk."""

import json
import os
import pathlib
import socket
import subprocess
import sys

from browser import NotTested, until
from covers import ALBUMS
from proxies import Door, free_port, pair


def test_disk_read_only_at_first(house):
    """No folder of ours was ever made."""
    alone(house, "fresh")


def test_disk_read_only(house):
    """The disk has the state of an earlier run."""
    alone(house, "read-only")


def test_disk_overlay(house):
    """What is written goes to memory."""
    alone(house, "overlay")


def test_disk_full(house):
    """Nothing new is kept, and all that was there is."""
    alone(house, "full")


def alone(house, kind):
    if os.getuid() != 0:
        raise NotTested("mounts need root")
    words = ["unshare", "--mount", "--propagation", "private", sys.executable, "-B", __file__]
    words += [str(house.programs), str(house.folder / kind), kind]
    run = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stdout + run.stderr


def mount(*words):
    subprocess.run(["mount", *map(str, words)], check=True)


def wear(folder, kind):
    """Makes the disk one that keeps nothing."""
    disk, other = folder / "disk", folder / "other"
    other.mkdir()
    if kind == "overlay":
        mount("-t", "tmpfs", "tmpfs", other)
        (other / "upper").mkdir()
        (other / "work").mkdir()
        mount("-t", "overlay", "overlay", "-o", f"lowerdir={disk},upperdir={other}/upper,workdir={other}/work", disk)
    elif kind == "full":
        mount("-t", "tmpfs", "-o", "size=64m", "tmpfs", other)
        subprocess.run(["cp", "-a", f"{disk}/.", other], check=True)
        mount("--bind", other, disk)
        fill(disk)
    else:
        mount("--bind", disk, disk)
        mount("-o", "remount,bind,ro", disk)


def fill(disk):
    """Takes the room that is left."""
    subprocess.run(["dd", "if=/dev/zero", f"of={disk}/rest", "bs=4k", "oflag=append", "conv=notrunc"], capture_output=True, check=False)
    assert os.statvfs(disk).f_bavail == 0


class Life:
    """All programs, until `end`."""

    def __init__(self, house):
        self.house, self.port = house, free_port()
        house.begin_daemon()
        house.begin_library()
        until(lambda: house.call("hello"), "the daemon")
        house.begin_web(more=f"proxy-bind = localhost:{self.port}\naddress = http://localhost:{self.port}\n")
        house.begin_mpd()

    def end(self):
        for process in reversed(list(self.house.processes)):
            process.terminate()
            assert process.wait(30) == 0, process.args
            self.house.processes.remove(process)

    def mpd(self, line):
        """The answer of nowplaying-mpd to a line: bytes up to its OK or ACK."""
        with socket.socket(socket.AF_UNIX) as peer:
            peer.settimeout(20)
            until(lambda: peer.connect_ex(f"{self.house.folder}/mpd/socket") == 0, "nowplaying-mpd")
            peer.recv(100)
            peer.sendall(line.encode() + b"\n")
            answer = b""
            while not answer.endswith(b"OK\n") and b"ACK" not in answer:
                more = peer.recv(65536)
                assert more, answer
                answer += more
            return answer

    def note(self, text):
        """Keeps a sticker of a song."""
        return self.mpd(f'sticker set song "Tidewater/2.flac" mood {text}')


def works(house, life, door):
    """What an owner does: play, pause, seek, look for music, see a picture, use a phone, a page and a client of MPD."""
    house.call("play", index=2)
    until(lambda: house.state["state"] == "playing", "sound")
    house.call("changePlaybackPosition", position=60)
    until(lambda: house.state["anchor"]["elapsed"] >= 60, "the seek")
    house.call("pause")
    until(lambda: house.state["state"] == "paused", "the pause")
    item = house.state["item"]
    assert item["title"] == ALBUMS[0][3][2], item
    rows = until(lambda: house.call("library.search", text="Ferry")["rows"], "the library's answer")
    assert rows[0]["title"] == "Slow Ferry", rows
    picture = f"/artwork/{item['artwork'][0]['id']}.jpg"
    answer = door.ask("GET", picture)
    body = answer.read()
    assert answer.status == 200 and body.startswith(b"\xff\xd8"), (answer.status, body[:200], item)
    small = door.ask("GET", picture + "?size=300")
    assert small.status == 200 and len(small.read()) > 100, small.status
    assert door.ask("GET", "/").read().startswith(b"<!doctype html>")
    status, body = door.call("nowPlaying.get")
    assert status == 200 and json.loads(body)["result"]["item"]["title"] == item["title"], body
    assert b"Title: " + item["title"].encode() in life.mpd("currentsong")
    file = next(one for one in life.mpd("currentsong").decode().splitlines() if one.startswith("file: "))[6:]
    assert b"binary: " in life.mpd(f'readpicture "{file}" 0')


def inside(house, folder, kind):
    disk = folder / "disk"
    disk.mkdir()
    for number in range(len(ALBUMS)):
        colour = f"color=c=0x{number}080c0:s=600x600"
        house.run("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", colour, "-frames:v", "1", folder / f"cover{number}.jpg")
    house.music()
    early = None
    if kind != "fresh":
        life = Life(house)
        early = Door(life.port)
        house.fresh()
        pair(house, early)
        until(lambda: house.call("library.search", text="Ferry")["rows"], "the library's first index")
        works(house, life, early)
        assert (answer := life.note("early")) == b"OK\n", answer
        life.end()
    wear(folder, kind)
    life = Life(house)
    door = Door(life.port)
    if early is None:
        house.fresh()
    else:
        # The queue, the position and the phone of before.
        state = house.state
        assert state["queue"]["count"] == len(house.paths()) and state["queue"]["index"] == 2, state["queue"]
        assert state["state"] == "paused" and 60 <= state["anchor"]["elapsed"] < 75, state["anchor"]
        door.token = early.token
        assert door.call("hello")[0] == 200
    if kind == "full":
        fill(disk)
        code = house.web_call("pair.begin", role="control")["code"]
        answer = Door(life.port).ask("POST", "/pair", json.dumps({"code": code, "name": "late"}), Content_Type="application/json")
        body = answer.read().decode()
        assert answer.status == 403 and "could not be saved" in body, (answer.status, body)
    else:
        door = Door(life.port)
        pair(house, door)
    works(house, life, door)
    if kind != "full":
        assert (answer := life.note("later")) == b"OK\n", answer
    # A crash of the daemon keeps its place as long as memory has it.
    if kind != "full":
        place = house.state["anchor"]["elapsed"]
        house.end(house.daemon)
        house.begin_daemon()
        until(lambda: house.call("hello"), "the daemon after its crash")
        state = until(lambda: house.state["item"] and house.state, "the queue after a crash")
        assert state["queue"]["count"] == len(house.paths()) and abs(state["anchor"]["elapsed"] - place) < 1, state
    # The daemon needs no other folder than the one that is there.
    told = {"fresh": ("nowplayingd", "nowplaying-library", "nowplaying-web"), "read-only": ("nowplaying-library", "nowplaying-web")}
    for program in told.get(kind, ()):
        log = (folder / f"{program}.log").read_text()
        assert f"{program}: warning: " in log and "is on a read-only disk" in log, log


if __name__ == "__main__":
    from house import House

    place = pathlib.Path(sys.argv[2])
    place.mkdir()
    other = House(sys.argv[1], str(place), begins=False, kept=f"{place}/disk/kept")
    try:
        inside(other, place, sys.argv[3])
    finally:
        other.close()
        for log in place.glob("*.log"):
            print(f"--- {log.name}\n{log.read_text()[-2000:]}")
