// The sheets of the now playing view: chapters, rate, sleep timer, outputs, and other settings.

import { h, icon } from "../dom.js";

import { openChoices, openSheet } from "./sheet.js";

const SLEEP_MINUTES = [15, 30, 45, 60, 90];
const RATES = [0.75, 1, 1.25, 1.5, 1.75, 2];

export async function openChapters(app) {
  const { player, words, format } = app;
  const { item } = player.state;
  let { chapters } = item;
  // A state has only the number of more than 50 chapters.
  if (!Array.isArray(chapters)) {
    const full = await app.attempt(() => player.call("queue.get", { id: item.id, session: player.state.session }));
    chapters = full?.chapters ?? [];
  }
  openChoices(app, words("chapters"), chapters.map((chapter, index) => ({
                                                     label: chapter.title ?? words("chapterNumber", { number: index + 1 }),
                                                     detail: format.time(chapter.start),
                                                     isChosen: index === item.chapterIndex,
                                                     isDisabled: !player.command("changePlaybackPosition").enabled,
                                                     run: () => player.seek(chapter.start),
                                                   })));
}

export function openRate(app) {
  const { player, words, format } = app;
  const { anchor } = player.state;
  const current = anchor.rate !== 0 ? anchor.rate : anchor.defaultRate ?? 1;
  const rates = player.command("changePlaybackRate").supportedPlaybackRates ?? RATES;
  openChoices(app, words("rate"), rates.map((rate) => ({
                                              label: format.rate(rate),
                                              isChosen: Math.abs(rate - current) < 1e-6,
                                              run: () => player.run("changePlaybackRate", { rate }),
                                            })));
}

export function openSleep(app) {
  const { player, words, format } = app;
  const { sleep } = player.state;
  const set = (params) => () => player.call("sleep.set", params);
  const left = sleep?.endsMonotonic === undefined ? null : player.secondsUntil(sleep.endsMonotonic);
  openChoices(
    app, words("sleep"),
    [
      { label: words("sleepOff"), isChosen: sleep === null, run: set({}) },
      { label: words("sleepItem"), isChosen: sleep?.endOf === "item", run: set({ endOf: "item" }) },
      ...SLEEP_MINUTES.map(
        (minutes) => ({ label: format.unit(minutes, "minute"), run: set({ after: minutes * 60, fade: 10 }) })),
    ],
    left === null ? null : words("sleepLeft", { time: format.spoken(left) }));
}

export async function openOutputs(app) {
  const { player, words } = app;
  const answer = await app.attempt(() => player.call("output.list"));
  if (answer === undefined) return;
  openChoices(app, words("output"), answer.outputs.map(({ name, description, current }) => ({
                                                         label: description || name,
                                                         isChosen: current,
                                                         run: () => player.call("output.select", { name }),
                                                       })));
}

// Rating, opinion, bookmark, and the modes that are set seldom.
export function openMore(app) {
  const { player, words } = app;
  const body = h("div", { class: "more" });
  const sheet = openSheet(app, words("more"), body);
  const draw = () => body.replaceChildren(...moreRows(app));
  const end = player.listen((change) => change !== "position" && draw());
  sheet.element.addEventListener("close", end);
  draw();
}

function moreRows(app) {
  const { player, words } = app;
  const { state } = player;
  const rows = [];
  if (state.item !== null) {
    rows.push(
      stars(app), toggle(app, "dislike", "dislike", state.item.isDisliked === true),
      toggle(app, "bookmark", "bookmark", state.item.bookmark !== undefined));
  }
  rows.push(
    mode(app, "changeConsumeMode", "consume", state.consumeMode), mode(app, "changeSingleMode", "single", state.singleMode));
  rows.push(action(app, "stop", "stop", () => player.run("stop")));
  const { format: media } = state.item ?? {};
  if (media) rows.push(h("p", { class: "note" }, describe(app, media, state.output)));
  return rows;
}

// Codec, sample rate and depth; and if the samples reach the device unchanged.
function describe({ words, format }, media, output) {
  const parts = [
    media.codec?.toUpperCase(), media.sampleRate && `${format.number(media.sampleRate / 1000)} kHz`,
    media.bitsPerSample && format.unit(media.bitsPerSample, "bit", "short"),
    media.bitRate && `${format.number(Math.round(media.bitRate / 1000))} kbit/s`,
    output?.bitPerfect?.value === true && words("bitPerfect")
  ];
  return parts.filter(Boolean).join(" · ");
}

function stars(app) {
  const { player, words } = app;
  const command = player.command("rating");
  const rating = player.state.item.rating ?? 0;
  return h(
    "div", { class: "row" }, h("span", { id: "rating-name" }, words("rating")),
    h("div", { class: "stars", role: "group", "aria-labelledby": "rating-name" },
      [1, 2, 3, 4, 5].map(
        (count) =>
          h("button", {
            type: "button",
            class: `icon-button star${count <= rating ? " is-on" : ""}`,
            disabled: !command.enabled,
            title: app.reason(command),
            "aria-label": words("stars", { count }),
            "aria-pressed": String(count === rating),
            onclick: () => app.attempt(() => player.run("rating", { rating: count === rating ? 0 : count })),
          },
            icon(count <= rating ? "star-full" : "star")))));
}

function toggle(app, name, iconName, isActive) {
  const { player, words } = app;
  const command = player.command(name);
  return h(
    "button", {
      type: "button",
      class: `row row-button${isActive ? " is-on" : ""}`,
      "aria-pressed": String(isActive),
      disabled: !command.enabled,
      title: command.enabled ? null : app.reason(command),
      onclick: () => app.attempt(() => player.run(name, { active: !isActive })),
    },
    icon(iconName), h("span", {}, words(name)));
}

function action(app, name, iconName, run) {
  const command = app.player.command(name);
  return h(
    "button", {
      type: "button",
      class: "row row-button",
      disabled: !command.enabled,
      title: command.enabled ? null : app.reason(command),
      onclick: () => app.attempt(run)
    },
    icon(iconName), h("span", {}, app.words(name)));
}

function mode(app, name, word, value) {
  const { player, words } = app;
  const command = player.command(name);
  const select = h(
    "select", { disabled: !command.enabled, title: command.enabled ? null : app.reason(command), "aria-label": words(word) },
    ["off", "on", "once"].map((one) => h("option", { value: one, selected: one === value }, words(`mode.${one}`))));
  select.onchange = () => app.attempt(() => player.run(name, { mode: select.value }));
  return h("label", { class: "row" }, icon(word), h("span", {}, words(word)), select);
}
