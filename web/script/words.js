// The page's own texts, from one file for each language: words/LANGUAGE.json.

import { files } from "./dom.js";

export const LANGUAGES = ["en", "de", "es", "fr", "ja"];
const RIGHT_TO_LEFT = ["ar", "fa", "he", "ur"];

// The first language of the reader that the page has; `chosen` comes before the browser's own.
export function pickLanguage(chosen, wanted) {
  const candidates = [chosen, ...wanted].filter(Boolean).map((tag) => tag.toLowerCase().split("-")[0]);
  return candidates.find((tag) => LANGUAGES.includes(tag)) ?? "en";
}

export function direction(language) {
  return RIGHT_TO_LEFT.includes(language) ? "rtl" : "ltr";
}

// Looks up texts: words(key), words(key, values). {name} in a text is a value. A text with plural forms is an object of
// them, chosen by the value `count`.
export function makeWords(texts, language) {
  const plurals = new Intl.PluralRules(language);
  const numbers = new Intl.NumberFormat(language);
  return (key, values = {}) => {
    let text = texts[key];
    if (text === undefined) return key;
    if (typeof text === "object") text = text[plurals.select(values.count)] ?? text.other;
    return text.replace(/\{(\w+)\}/g, (whole, name) => {
      const value = values[name];
      return value === undefined ? whole : typeof value === "number" ? numbers.format(value) : String(value);
    });
  };
}

// Requests the words, with a pause() between attempts: without them the page is blank.
export async function loadWords(language, pause, fetcher = fetch) {
  for (;;) {
    try {
      const answer = await fetcher(`${files}words/${language}.json`);
      if (answer.ok) return makeWords(await answer.json(), language);
    } catch {
      // nowplaying-web is away.
    }
    await pause();
  }
}
