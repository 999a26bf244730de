"""Folders of music that look like people's own: artists of unlike size, albums, compilations, discs, several scripts."""
import pathlib
import random

from harness.templates import Templates

WORDS = ("love night the of blue river heart dream fire rain moon dance black golden sun road home time light shadow summer "
         "winter silver stone wind sea sky star angel devil king queen city street train machine garden mirror glass wild "
         "broken lonely crazy sweet little big old new lost found burning falling flying running waiting smile tears "
         "Björk señor café naïve Motörhead Rós Søren straße Mañana don't sonata quartet opus requiem").split()
OTHER = ("東京", "夜", "雨", "夢", "さくら", "ダンス", "ночь", "любовь", "звезда", "город", "дождь", "песня")
GENRES = ("Rock Pop Jazz Classical Electronic Hip-Hop Folk Metal Blues Soul Reggae Country Ambient Techno House Punk "
          "Soundtrack Latin Funk Disco").split()
KINDS = ("flac", "mp3", "opus")


class Collection:
    """`count` files in `folder`, the same for the same seed. Each album has one format."""

    def __init__(self, folder, scratch, count, seed=1):
        self.folder, self.count = pathlib.Path(folder), count
        self.chance, self.templates = random.Random(seed), Templates(scratch)
        self.artists = [self._name(1 + number % 3) for number in range(max(1, count // 30))]
        self.paths = []

    def write(self):
        """Writes all of them."""
        album = 0
        while len(self.paths) < self.count:
            self._album(album)
            album += 1
        return self

    def _name(self, words):
        chance = self.chance
        kinds = OTHER if chance.random() < 0.05 else WORDS
        return " ".join(chance.choice(kinds).capitalize() if chance.random() < 0.7 else self._syllables() for _ in range(words))

    def _syllables(self):
        chance = self.chance
        return "".join(chance.choice("bdfgklmnprstvz") + chance.choice(("a", "e", "i", "o", "u", "an", "el", "ir"))
                       for _ in range(chance.randint(2, 3))).capitalize()

    def _id(self):
        digits = f"{self.chance.getrandbits(128):032x}"
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))

    def _album(self, number):
        chance = self.chance
        kind = chance.choice(KINDS)
        various = chance.random() < 0.06
        main = chance.choice(self.artists[:1 + chance.randrange(len(self.artists))])
        title, year = self._name(chance.randint(1, 4)), chance.randint(1950, 2024)
        discs, total = 2 if chance.random() < 0.08 else 1, chance.randint(6, 17)
        shared = [("ALBUM", title), ("ALBUMARTIST", "Various Artists" if various else main), ("DATE", f"{year}-0{chance.randint(1, 9)}-11"),
                  ("GENRE", chance.choice(GENRES)), ("COMPOSER", chance.choice(self.artists)), ("LABEL", chance.choice(self.artists[:200]) + " Records")]
        tagged = chance.random() < 0.6
        if tagged:
            shared += [("MUSICBRAINZ_ALBUMID", self._id()), ("MUSICBRAINZ_ALBUMARTISTID", self._id())]
        pictured = chance.randrange(4) if chance.random() < 0.15 else None
        for disc in range(1, discs + 1):
            folder = self.folder / _safe("Various" if various else main) / _safe(f"{year} - {title} [{number}]")
            if discs > 1:
                folder /= f"CD{disc}"
            folder.mkdir(parents=True, exist_ok=True)
            for track in range(1, total + 1):
                if len(self.paths) == self.count:
                    return
                name = self._name(chance.randint(1, 5))
                artist = chance.choice(self.artists) if various else main
                tags = [("TITLE", name), ("ARTIST", artist), *shared, ("TRACKNUMBER", str(track)), ("TRACKTOTAL", str(total)),
                        ("DISCNUMBER", str(disc)), ("DISCTOTAL", str(discs))]
                if tagged:
                    tags += [("MUSICBRAINZ_TRACKID", self._id()), ("MUSICBRAINZ_ARTISTID", self._id())]
                path = f"{folder}/{track:02} - {_safe(name)}.{kind}"
                with open(path, "wb", buffering=0) as file:
                    file.write(self.templates.file(kind, chance.randrange(1 << 16), tags, pictured))
                self.paths.append(path)


def _safe(name):
    return name.replace("/", "-")
