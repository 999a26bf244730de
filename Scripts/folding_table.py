#!/usr/bin/env python3
"""Writes Sources/TrackDatabase/Folding/FoldingTable.swift from the Unicode data of Python.

A code point maps to its compatibility decomposition, in lower case, without marks of Latin, Greek, Cyrillic, Hebrew and
Arabic and without invisible code points; katakana becomes hiragana. The program itself composes Hangul.

usage: Scripts/folding_table.py
"""
import base64
import pathlib
import sys
import unicodedata

FILE = pathlib.Path(__file__).resolve().parent.parent / "Sources/TrackDatabase/Folding/FoldingTable.swift"
WIDTH = 108

# Letters with a stroke and the like have no decomposition in Unicode; the last rows are punctuation of typographers.
LETTERS = {
    "ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ŧ": "t", "æ": "ae", "œ": "oe", "þ": "th", "ð": "d", "ı": "i", "ŋ": "n",
    "ĸ": "k", "ƒ": "f", "ƀ": "b", "ɓ": "b", "ƈ": "c", "ɖ": "d", "ɗ": "d", "ǥ": "g", "ɠ": "g", "ɨ": "i", "ƙ": "k",
    "ƚ": "l", "ɲ": "n", "ƞ": "n", "ɵ": "o", "ƥ": "p", "ƭ": "t", "ʈ": "t", "ʉ": "u", "ʋ": "v", "ƴ": "y", "ƶ": "z",
    "ȥ": "z", "ⱥ": "a", "ȼ": "c", "ɇ": "e", "ɉ": "j", "ɍ": "r", "ɏ": "y", "ⱦ": "t", "ə": "e", "ɛ": "e", "ɔ": "o",
    "ґ": "г", "ғ": "г", "қ": "к", "ҝ": "к", "ң": "н", "ұ": "у", "ү": "у", "һ": "х", "ҳ": "х", "ө": "о",
    "‘": "'", "’": "'", "‚": "'", "‛": "'", "ʼ": "'", "ʻ": "'", "ʹ": "'", "`": "'", "´": "'", "“": '"', "”": '"',
    "„": '"', "‟": '"', "‐": "-", "‑": "-", "‒": "-", "–": "-", "—": "-", "―": "-", "−": "-", "⁄": "/", "×": "x",
    "〜": "~", "～": "~", "・": " ", "ـ": "",
}


def is_dropped(character):
    """True for a mark that a person may leave out, and for an invisible code point."""
    combining, category = unicodedata.combining(character), unicodedata.category(character)
    if category == "Cf" or 0xFE00 <= ord(character) <= 0xFE0F or 0xE0100 <= ord(character) <= 0xE01EF:
        return True
    if ord(character) in (0x034F, 0x115F, 0x1160, 0x3164, 0x17B4, 0x17B5):
        return True
    if not category.startswith("M"):
        return False
    # Overlays, Hebrew points, Arabic vowels, and marks above, below or beside a letter. Not the voice marks of kana (8), and
    # not the vowels and tones of Indic scripts and of Thai (7, 9, 84 to 132).
    return combining == 1 or 10 <= combining <= 36 or combining in (202, *range(212, 241))


def folded(character, depth=0):
    """The text that `character` becomes."""
    if depth == 0 and unicodedata.category(character) in ("Cc", "Zs", "Zl", "Zp"):
        return " "
    if character in LETTERS:
        return LETTERS[character]
    parts = unicodedata.normalize("NFKD", character)
    parts = unicodedata.normalize("NFKD", parts.casefold())
    result = "".join(part for part in parts if not is_dropped(part))
    result = "".join(LETTERS.get(part, part) for part in result)
    # Katakana to hiragana, with its iteration marks.
    result = "".join(chr(ord(c) - 0x60) if 0x30A1 <= ord(c) <= 0x30F6 or c in "ヽヾ" else c for c in result)
    return result if depth > 3 or result == character else "".join(folded(c, depth + 1) for c in result)


def entries():
    """(code point, code points of its text) for each code point that changes."""
    for code in range(0x80, 0x110000):
        if 0xAC00 <= code <= 0xD7A3 or 0xD800 <= code <= 0xDFFF or 0xE000 <= code <= 0xF8FF or code >= 0xF0000:
            continue
        character = chr(code)
        if unicodedata.category(character) == "Cn":
            continue
        text = unicodedata.normalize("NFKD", folded(character))
        # Voiced kana are composed again, as the program composes them.
        text = compose(text)
        if text != character:
            yield code, [ord(one) for one in text]


def pairs():
    """{(kana, mark): voiced kana} of hiragana."""
    found = {}
    for code in range(0x3041, 0x30A0):
        parts = unicodedata.normalize("NFD", chr(code))
        if len(parts) == 2:
            found[parts] = chr(code)
    return found


PAIRS = pairs()


def compose(text):
    """With voiced kana and Hangul in one code point each."""
    for parts, whole in PAIRS.items():
        text = text.replace(parts, whole)
    return "".join(unicodedata.normalize("NFC", text)) if any(0x1100 <= ord(c) <= 0x11FF for c in text) else text


def runs(found):
    """[(first, count, step, targets, target step)]: the target of a run grows by its own step."""
    result, place = [], 0
    while place < len(found):
        code, targets = found[place]
        best = (code, 1, 1, targets, 0)
        if len(targets) == 1:
            for step in (1, 2):
                for grows in (0, 1, 2):
                    count = 1
                    while (place + count < len(found) and found[place + count]
                           == (code + count * step, [targets[0] + count * grows])):
                        count += 1
                    if count > best[1]:
                        best = (code, count, step, targets, grows)
        result.append(best)
        place += best[1]
    return result


def varint(number):
    """Seven bits a byte, the lowest first."""
    result = bytearray()
    while number > 0x7F:
        result.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(result) + bytes([number])


def encoded():
    """The runs as bytes."""
    result, last = bytearray(), 0
    for first, count, step, targets, grows in runs(list(entries())):
        result += varint(first - last) + varint(len(targets) << 1 | (count > 1))
        if count > 1:
            result += varint(count) + varint(step << 2 | grows)
        for target in targets:
            away = target - first
            result += varint(away << 1 if away >= 0 else (-away << 1) - 1)
        last = first
    return bytes(result)


def main():
    data = encoded()
    text = base64.b64encode(data).decode()
    lines = [text[place:place + WIDTH] for place in range(0, len(text), WIDTH)]
    kana = sorted(PAIRS.items())
    swift = [
        f"// Written by Scripts/folding_table.py from Unicode {unicodedata.unidata_version}. Do not edit.",
        "",
        "/// Tables of `Folding`.",
        "enum FoldingTable {",
        f"    /// Runs of code points and their texts, {len(data)} bytes in Base64; see `FoldingPages`.",
        '    static let runs: StaticString = """',
        *[f"        {line}\\" for line in lines],
        "",
        '        """',
        "",
        "    /// A hiragana letter, its voice mark and the letter of both, in turn.",
        '    static let voicedKana: StaticString =',
        '        "' + "".join(f"\\u{{{ord(p[0]):X}}}\\u{{{ord(p[1]):X}}}\\u{{{ord(w):X}}}" for p, w in kana[:4]) + '"',
        "}",
        "",
    ]
    # The kana in lines of at most 8.
    place = swift.index('    static let voicedKana: StaticString =')
    units = ["".join(f"\\u{{{ord(c):X}}}" for c in p + w) for p, w in kana]
    rows = ["".join(units[i:i + 4]) for i in range(0, len(units), 4)]
    swift[place:place + 2] = ['    static let voicedKana: StaticString = """', *[f"        {row}\\" for row in rows], "",
                              '        """']
    FILE.write_text("\n".join(swift), encoding="utf-8")
    print(f"{FILE.name}: {len(data)} bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
