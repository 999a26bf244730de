import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

import { artworkPath, filmOf, previewPath, stillOf } from "../../../web/script/artwork.js";
import { contrast, dominant, palette, toOKLCH, toRGB } from "../../../web/script/colours.js";
import { Format } from "../../../web/script/format.js";
import { readRoute } from "../../../web/script/route.js";
import { codeInAddress, deviceName } from "../../../web/script/views/pairing.js";
import { RowWindow } from "../../../web/script/window.js";
import { direction, LANGUAGES, loadWords, makeWords, pickLanguage } from "../../../web/script/words.js";

const folder = new URL("../../../web/words/", import.meta.url);
const texts = (language) => JSON.parse(readFileSync(new URL(`${language}.json`, folder), "utf8"));

test("every language has every text, with the same values in it", () => {
  assert.deepEqual(readdirSync(folder).sort(), LANGUAGES.map((one) => `${one}.json`).sort());
  const english = texts("en");
  const values = (text) => [...new Set((typeof text === "object" ? text.other : text).match(/\{\w+\}/g) ?? [])].sort();
  for (const language of LANGUAGES) {
    const own = texts(language);
    assert.deepEqual(Object.keys(own).sort(), Object.keys(english).sort(), language);
    const forms = new Intl.PluralRules(language).resolvedOptions().pluralCategories;
    for (const [key, text] of Object.entries(own)) {
      assert.deepEqual(values(text), values(english[key]), `${language} ${key}`);
      if (typeof text === "object")
        assert.ok(Object.keys(text).every((form) => forms.includes(form)) && "other" in text, `${language} ${key}`);
    }
  }
});

test("every text that a script names exists", () => {
  const root = new URL("../../../web/script/", import.meta.url);
  const english = texts("en");
  for (const name of readdirSync(root, { recursive: true }).filter((one) => one.endsWith(".js"))) {
    const source = readFileSync(new URL(name, root), "utf8");
    for (const [, key] of source.matchAll(/words\("([^"]+)"/g)) assert.ok(key in english, `${name}: ${key}`);
    assert.ok(source.split("\n").length <= 400, name);
  }
});

test("texts take values and plural forms; hostile values stay text", () => {
  const words = makeWords(texts("en"), "en");
  assert.equal(words("items", { count: 1 }), "1 item");
  assert.equal(words("items", { count: 1234 }), "1,234 items");
  assert.equal(words("removed", { title: "<b>{count} $& $1</b>" }), "Removed <b>{count} $& $1</b>");
  assert.equal(makeWords(texts("fr"), "fr")("items", { count: 0 }), "0 titre");
  assert.equal(makeWords(texts("ja"), "ja")("items", { count: 1 }), "1曲");
});

test("the language is the reader's first that there is", () => {
  assert.equal(pickLanguage(null, ["pt-BR", "fr-CH", "de"]), "fr");
  assert.equal(pickLanguage("ja", ["de"]), "ja");
  assert.equal(pickLanguage(null, ["xx"]), "en");
  assert.deepEqual(["de", "ar", "he"].map(direction), ["ltr", "rtl", "rtl"]);
});

test("words are asked for until they come", async () => {
  const answers = [
    () => Promise.reject(new TypeError("fetch failed")), () => ({ ok: false, json: () => Promise.reject(new Error("502")) }),
    () => ({ ok: true, json: async () => ({ play: "Abspielen" }) })
  ];
  const asked = [];
  let pauses = 0;
  const words = await loadWords("de", async () => (pauses += 1), async (address) => {
    asked.push(address);
    return answers.shift()();
  });
  assert.equal(words("play"), "Abspielen");
  assert.deepEqual([asked.length, new Set(asked).size, pauses], [3, 1, 2]);
  assert.ok(asked[0].endsWith("/words/de.json"));
});

test("an address is a view and its parts; a name that is no view is the first one", () => {
  const read = (hash) => readRoute(hash, ["", "library"]);
  assert.deepEqual(read(""), { name: "", parts: [] });
  assert.deepEqual(read("#/library/album/A%2FB/"), { name: "library", parts: ["album", "A/B", ""] });
  assert.deepEqual(read("#/library/%"), { name: "library", parts: ["%"] });
  for (const name of ["toString", "__proto__", "constructor", "pairing"])
    assert.deepEqual(read(`#/${name}`), { name: "", parts: [] });
});

test("times are labels for eyes and words for ears", () => {
  const english = new Format("en");
  assert.deepEqual(
    [0, 59.9, 60, 3599, 3600, 36_061].map((one) => english.time(one)),
    ["0:00", "0:59", "1:00", "59:59", "1:00:00", "10:01:01"]);
  assert.equal(english.spoken(90), "1 minute, 30 seconds");
  assert.equal(english.spoken(0), "0 seconds");
  assert.equal(english.spoken(7260), "2 hours, 1 minute");
  assert.equal(new Format("de").spoken(90), "1 Minute, 30 Sekunden");
  assert.equal(new Format("de").rate(1.25), "1,25×");
  assert.equal(new Format("ja").spoken(61), "1 分 1 秒");
});

test("colours survive the way to OKLCH and back", () => {
  for (const colour of [[0, 0, 0], [255, 255, 255], [255, 0, 0], [12, 200, 90], [90, 20, 240]]) {
    const back = toRGB(toOKLCH(colour));
    assert.ok(colour.every((value, index) => Math.abs(value - back[index]) <= 2), `${colour} ${back}`);
  }
  assert.ok(Math.abs(contrast([0, 0, 0], [255, 255, 255]) - 21) < 1e-9);
});

test("text is readable on the colours of any picture", () => {
  const numbers = (text) => text.match(/\d+/g).map(Number);
  for (let red = 0; red <= 255; red += 51) {
    for (let green = 0; green <= 255; green += 51) {
      for (let blue = 0; blue <= 255; blue += 51) {
        const pixels = new Uint8ClampedArray(64 * 4).map((_, at) => [red, green, at < 100 ? 255 - blue : blue, 255][at % 4]);
        for (const isDark of [true, false]) {
          const colours = palette(dominant(pixels), isDark);
          for (const ground of ["--top", "--bottom"]) {
            for (const [name, ratio] of [["--text", 7], ["--muted", 4.5], ["--accent", 4.5]]) {
              const found = contrast(numbers(colours[name]), numbers(colours[ground]));
              assert.ok(found >= ratio, `${name} on ${ground} has ${found} for ${red} ${green} ${blue}, dark ${isDark}`);
            }
          }
        }
      }
    }
  }
});

test("a picture without pixels that count has colours, too", () => {
  assert.equal(dominant(new Uint8ClampedArray(16)).length, 2);
  assert.ok(palette(dominant(new Uint8ClampedArray(16)), true)["--text"]);
});

test("pictures have paths with the ending of their type", () => {
  const item = {
    artwork: [
      { id: "a", kind: "image", type: "image/png" }, { id: "b", kind: "animated", aspect: "1:1", type: "video/mp4" },
      { id: "c", kind: "animated", aspect: "3:4", type: "video/webm" }
    ]
  };
  assert.equal(artworkPath("a", "image/png", 600), "artwork/a.png?size=600");
  assert.equal(artworkPath("b", "video/mp4"), "artwork/b.mp4");
  assert.equal(artworkPath("../x", undefined), "artwork/..%2Fx.jpg");
  assert.equal(previewPath("b"), "artwork/b.jpg?kind=preview");
  assert.equal(stillOf(item).id, "a");
  assert.deepEqual(
    [filmOf(item, false).id, filmOf(item, true).id, filmOf({}, true), stillOf(null)], ["b", "c", null, null]);
});

test("a million rows scroll: each is reached, and small movements are exact", () => {
  const rows = new RowWindow();
  rows.layout(1_000_000, 64, 800);
  assert.ok(rows.height <= 6_000_000);
  for (const index of [0, 1, 999, 77_777, 500_000, 999_999]) {
    const top = rows.reveal(index);
    assert.ok(top >= 0 && top <= rows.height - 800 + 64, `${index} ${top}`);
    const { first, last } = rows.range(top);
    assert.ok(first <= index && index <= last, `${index} is not in ${first}…${last}`);
  }
  // To the end by the bar, and back to the beginning.
  let top = rows.scroll(rows.height - 800);
  assert.equal(rows.range(top).last, 999_999);
  top = rows.scroll(0);
  assert.equal(rows.range(top).first, 0);
  // Through the middle by steps of a wheel: rows go by one after the other.
  top = rows.reveal(300_000);
  for (let step = 0; step < 3000; step += 1) {
    const before = rows.range(top, 0).first;
    top = rows.scroll(top + 64);
    const after = rows.range(top, 0).first;
    assert.ok(after - before >= 0 && after - before <= 2, `${before} to ${after}`);
  }
  assert.ok(Math.abs(rows.range(top, 0).first - 303_000) < 40);
});

test("a short list is laid out as it is", () => {
  const rows = new RowWindow();
  rows.layout(10, 64, 800);
  assert.equal(rows.height, 640);
  assert.equal(rows.scroll(30), 30);
  assert.deepEqual(rows.range(0), { first: 0, last: 9 });
  assert.deepEqual([rows.topOf(3), rows.indexAt(200)], [192, 3]);
});

test("a code in the address is one of digits", () => {
  assert.equal(codeInAddress("#12345678"), "12345678");
  assert.equal(codeInAddress("#1234-5678"), "1234-5678");
  for (const hash of ["", "#/queue", "#/", "#12", "#abc<d"]) assert.equal(codeInAddress(hash), null);
});

test("a device is named after its browser and system", () => {
  assert.equal(deviceName("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/156.0 Safari/537.36"), "Chrome, Linux");
  assert.equal(
    deviceName("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605 Version/18.0 Safari/604.1"),
    "Safari, iPhone");
  assert.equal(deviceName("?"), "Browser");
});

test("the first of all modules names each module that the first view needs", () => {
  const scripts = new URL("../../../web/script/", import.meta.url);
  const read = (path) => readFileSync(new URL(path, scripts), "utf8");
  const [list] = read("start.js").match(/(?<=const MODULES = \[)[^\]]*/);
  const named = [...list.matchAll(/"([^"]+)"/g)].map(([, path]) => path);
  const needed = new Set(["main.js", "views/playing.js"]);
  // A set grows while it is walked.
  for (const path of needed) {
    for (const [, other] of read(path).matchAll(/^(?:import|export) [^;]*?from "([^"]+)"/gm)) {
      needed.add(new URL(other, new URL(path, scripts)).href.slice(scripts.href.length));
    }
  }
  assert.deepEqual([...named].sort(), [...needed].sort());
});
