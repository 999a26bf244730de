#!/usr/bin/env python3
"""Kills (kill -9) the daemon, the library, the web bridge, the MPD bridge and the sound server at random instants, each
equally often, while a client acts through all doors, and starts each again as a service manager would. After each kill the
queue, the lists and the library have what was answered, the position is true to a second, and each door opens.

usage: kills.py FOLDER_OF_PROGRAMS [KILLS [SEED [FIRST]]]

FIRST: the kill with which it begins, of those of the seed. Each kill has random numbers of its own, so that it needs none of
those before it. A private PulseAudio and all programs run in a temporary folder. The last line is a row of Tests/Faults/RESULTS.md."""
import collections
import os
import random
import sys
import time

from killed_house import PATIENCE, SONGS, Gone, House

# A position may be off by this much: the daemon keeps the newest second in memory that survives it.
TOLERANCE = 1.0
# Programs that delay the position while they have no processor.
LATE = ("daemon", "sound")


class Picture:
    """What the daemon says at one instant."""

    def __init__(self, house):
        client = house.control()
        self.state = client.call("nowPlaying.get")
        self.queue = [item["id"] for item in client.call("queue.list", limit=1000)["items"]]
        client.close()

    @property
    def item(self):
        return (self.state.get("item") or {}).get("id")

    @property
    def plays(self):
        return self.state["anchor"]["rate"] > 0

    def elapsed(self, instant):
        anchor = self.state["anchor"]
        return anchor["elapsed"] + anchor["rate"] * (instant - anchor["monotonic"])


class Act:
    """One deed of the client: a request at a door, and the judgement of what it may have done."""

    def __init__(self, kind, before, send, *, judge_queue=None, positions=None, volume=None, appended=0, ended=None):
        self.kind, self.before, self.send = kind, before, send
        # True if this queue is that after the deed.
        self.judge_queue = judge_queue or (lambda queue: queue == before.queue)
        # Further positions that are right after the deed: (item, elapsed), elapsed None: as before.
        self.positions = positions or []
        self.volume = volume
        # Items that a saved list gets.
        self.appended = appended
        # Carries out the rest of the answer.
        self.ended = ended


class Campaign:
    def __init__(self, programs, kills, seed, first):
        self.random = random.Random(seed)
        self.seed = seed
        self.first = first
        self.house = House(programs)
        self.house.open_doors()
        victims = ["daemon", "library", "web", "mpd", "sound"]
        self.victims = victims * (kills // 5) + victims[:kills % 5]
        self.random.shuffle(self.victims)
        self.differences = []
        self.listed = 0
        self.carried_out = 0
        self.answered = 0
        self.opened = {victim: [] for victim in victims}
        self.off = []
        # Seconds for which daemon and sound server had no processor in this round and in those before it, in which the
        # position that a killed daemon returns to may have been saved.
        self.late = 0.0
        self.readings = collections.deque(maxlen=4)
        client = self.house.control()
        client.call("queue.add", items=self.files(6), play=True)
        client.close()

    def files(self, count):
        return [os.path.join(self.house.music, f"{self.random.randrange(SONGS):02}.wav") for _ in range(count)]

    # Deeds.

    def act(self, before):
        """The next deed, not yet begun."""
        count = len(before.queue)
        choice = self.random.randrange(14)
        added = lambda number: lambda queue: (
            len(queue) == count + number and queue[:count] == before.queue)
        if count > 120:
            gone = before.queue[:60] if before.item not in before.queue[:60] else before.queue[-60:]
            rest = [number for number in before.queue if number not in gone]
            if before.item in rest:
                return self.at_control("remove", before, "queue.remove", {"ids": gone}, judge_queue=lambda queue: queue == rest)
        if choice <= 2:
            number = self.random.randint(1, 4)
            return self.at_control("add", before, "queue.add", {"items": self.files(number)}, judge_queue=added(number))
        if choice == 3:
            volume = self.random.randrange(30, 100) / 100
            return self.at_control("volume", before, "volume.set", {"volume": volume}, volume=volume)
        if choice == 4:
            position = float(self.random.randrange(100, 3000))
            return self.at_control(
                "seek", before, "changePlaybackPosition", {"position": position}, positions=[(before.item, position)])
        if choice == 5:
            item = self.random.choice(before.queue)
            return self.at_control("play item", before, "play", {"itemId": item}, positions=[(item, 0.0)])
        if choice == 6:
            return self.at_control("pause", before, "pause", {}, positions=[(before.item, None)])
        if choice == 7 and count > 1:
            number = self.random.choice(before.queue)
            rest = [other for other in before.queue if other != number]
            place = self.random.randrange(count)
            moved = rest[:place] + [number] + rest[place:]
            return self.at_control(
                "move", before, "queue.move", {"ids": [number], "to": place}, judge_queue=lambda queue: queue == moved)
        if choice <= 9:
            client = self.house.mpd()
            name = f"{os.path.basename(self.house.music)}/{self.random.randrange(SONGS):02}.wav"
            return self.through(client, "MPD add", before, lambda: client.send(f"add \"{name}\"\n".encode()),
                                lambda: client.answer()[-1] == "OK", judge_queue=added(1))
        if choice <= 11:
            client = self.house.web()
            number = self.random.randint(1, 3)
            return self.through(
                client, "web add", before, lambda: client.request("queue.add", items=self.files(number)),
                lambda: "result" in client.answer(), judge_queue=added(number))
        client = self.house.library()
        number = self.random.randint(1, 5)
        if choice == 12:
            return self.through(
                client, "library add", before, lambda: client.request("library.add", uris=self.files(number)),
                lambda: "result" in client.answer(), judge_queue=added(number))
        return self.through(
            client, "list append", before,
            lambda: client.request("lists.save", name="kept", uris=self.files(number), append=True),
            lambda: "result" in client.answer(), appended=number)

    def through(self, client, kind, before, send, ended, **judgement):
        return Act(kind, before, send, ended=ended, **judgement)

    def at_control(self, kind, before, method, parameters, **judgement):
        client = self.house.control()
        return self.through(
            client, kind, before, lambda: client.request(method, **parameters), lambda: "result" in client.answer(),
            **judgement)

    # Rounds.

    def run(self):
        for number, victim in list(enumerate(self.victims, 1))[self.first - 1:]:
            self.random = random.Random(f"{self.seed}/{number}")
            try:
                self.round(number, victim)
            except (Gone, RuntimeError) as error:
                self.complain(number, victim, "no deed", f"{error} ({self.house.conditions()})")
                ended = self.house.ended()
                for words in ended:
                    self.complain(number, victim, "no deed", words)
                if ended:
                    return
            if number % 100 == 0:
                print(f"{number} kills, {len(self.differences)} differences", flush=True)

    def settle(self):
        """Plays most of the time, and returns when the sound server takes sound."""
        picture = Picture(self.house)
        if not picture.plays and self.random.randrange(4):
            client = self.house.control()
            client.call("play")
            client.close()
            end = time.monotonic() + PATIENCE
            while not picture.plays:
                if time.monotonic() > end:
                    raise RuntimeError(f"it does not play: {picture.state.get('stall')}")
                time.sleep(0.01)
                picture = Picture(self.house)
        return picture

    def round(self, number, victim):
        before = self.settle()
        self.readings.append({program: (self.house.number(program), self.house.waited(program)) for program in LATE})
        act = self.act(before)
        pause = self.random.choice((0, 0.0003, 0.001, 0.002, 0.004, 0.02, 0.1, 0.4))
        early = self.random.randrange(5) == 0
        if early:
            time.sleep(self.random.random() * 0.3)
        act.send()
        time.sleep(self.random.random() * pause)
        late = self.waited(victim) if victim in LATE else 0.0
        instant = time.clock_gettime(time.CLOCK_MONOTONIC)
        self.house.kill(victim)
        killed = time.clock_gettime(time.CLOCK_MONOTONIC)
        self.house.start(victim)
        try:
            is_done = act.ended()
        except Gone:
            is_done = None
        self.opened[victim].append(self.house.open_doors())
        # A machine without a free processor delays sound; the position is true all the same.
        self.late = late + sum(self.waited(program) for program in LATE)
        self.judge(number, victim, act, is_done, instant, killed)

    def waited(self, program):
        """Seconds for which a program had no processor since its start, or for the last rounds."""
        number = self.house.number(program)
        earlier = [reading[program][1] for reading in self.readings if reading[program][0] == number]
        return self.house.waited(program) - (earlier[0] if len(earlier) == self.readings.maxlen else 0)

    def judge(self, number, victim, act, is_done, instant, killed):
        before, after = act.before, Picture(self.house)
        if victim == "sound":
            end = time.monotonic() + PATIENCE
            while before.plays and not after.plays and after.state["state"] == "stalled":
                if time.monotonic() > end:
                    return self.complain(number, victim, act.kind, f"it stays stalled: {after.state.get('stall')}")
                time.sleep(0.01)
                after = Picture(self.house)
        is_same, is_after = after.queue == before.queue, act.judge_queue(after.queue)
        if is_done:
            self.answered += 1
        elif is_done is None and is_after and not is_same:
            self.carried_out += 1
        if not (is_after if is_done else is_after or is_same):
            self.complain(number, victim, act.kind, f"answered {is_done}; the queue was {before.queue}, is {after.queue}")
        if is_done and act.volume is not None and abs(after.state["volume"] - act.volume) > 0.005:
            self.complain(number, victim, act.kind, f"the volume is {after.state['volume']}, not {act.volume}")
        self.judge_list(number, victim, act, is_done)
        self.judge_position(number, victim, act, is_done, instant, killed, after)
        return None

    def judge_list(self, number, victim, act, is_done):
        client = self.house.library()
        lists = {entry["name"]: entry for entry in client.call("lists.list")["lists"]}
        count = lists.get("kept", {}).get("count", 0)
        client.close()
        wanted = {self.listed + act.appended} if is_done else {self.listed, self.listed + act.appended}
        if count not in wanted:
            self.complain(number, victim, act.kind, f"the list has {count} items, not {sorted(wanted)}")
        self.listed = count
        if count > 5000:
            client = self.house.library()
            client.call("lists.delete", name="kept")
            client.close()
            self.listed = 0

    def judge_position(self, number, victim, act, is_done, instant, killed, after):
        before = act.before
        now = time.clock_gettime(time.CLOCK_MONOTONIC)
        if victim == "daemon":
            # It is paused at the place at which it was killed.
            low, high = instant, killed
        elif victim == "sound":
            # It stood from the kill until sound was possible again.
            low, high = instant, now
        else:
            low = high = now
        elapsed = after.elapsed(now)
        right = [] if is_done and act.positions else [(before.item, before.elapsed(low), before.elapsed(high))]
        for item, position in act.positions:
            if position is None:
                # Paused at an instant between the request and the end of the daemon or now.
                right.append((item, before.elapsed(instant - 1), before.elapsed(high)))
            else:
                right.append((item, position, position + max(0, now - instant) + 1))
        distances = [
            max(0.0, first - elapsed, elapsed - last) for item, first, last in right if item == after.item]
        if not distances or min(distances) > TOLERANCE + self.late:
            self.complain(
                number, victim, act.kind,
                f"answered {is_done}, {self.late:.3f} s without a processor; item {after.item} at {elapsed:.3f} ({after.state['state']}), not one of {right}")
        else:
            self.off.append(max(0.0, min(distances) - self.late))

    def complain(self, number, victim, deed, words):
        words = f"kill {number} ({victim}), seed {self.seed}, {deed}: {words}"
        self.differences.append(words)
        print("DIFFERENCE " + words, flush=True)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    kills = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1_000_000)
    first = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    print(f"{kills} kills, seed {seed}, from kill {first}", flush=True)
    campaign = Campaign(sys.argv[1], kills, seed, first)
    try:
        campaign.run()
    finally:
        campaign.house.end()
    slowest = ", ".join(f"{victim} {max(times):.1f} s" for victim, times in campaign.opened.items() if times)
    print(
        f"| one of five programs killed while a client acts (kill -9) | {kills - first + 1} | {len(campaign.differences)} "
        f"differences (seed {seed}): {campaign.answered} answered deeds, none lost; {campaign.carried_out} without an answer were carried "
        f"out; positions off by at most {max(campaign.off, default=0):.2f} s beside waits for a processor; all doors open after at most: {slowest} |"
        if not campaign.differences else
        f"| one of five programs killed while a client acts (kill -9) | {kills - first + 1} | {len(campaign.differences)} "
        f"differences (seed {seed}), the first: {campaign.differences[0][:300]} |")
    sys.exit(1 if campaign.differences else 0)


if __name__ == "__main__":
    main()
