// Now playing: artwork, title, position and all controls.

import { h, icon, iconButton, set, setHidden, setIcon, setText } from "../dom.js";
import { Picture } from "../parts/picture.js";
import { Scrubber } from "../parts/scrubber.js";
import { Modes, Transport } from "../parts/transport.js";
import { Volume } from "../parts/volume.js";

export class PlayingView {
  #app;
  #parts;
  #title = h("h1", { class: "title", dir: "auto" });
  #artist = h("p", { class: "artist", dir: "auto" });
  #album = h("p", { class: "album", dir: "auto" });
  #badge = h("span", { class: "badge", hidden: true });
  #condition = h("p", { class: "condition", hidden: true });
  #chapter;
  #like;
  #more;
  #rate;
  #sleep;
  #output;
  #upcoming;

  constructor(app) {
    this.#app = app;
    const { words } = app;
    const sheets = (name) => async () => (await import("../parts/settings-sheets.js"))[name](app);
    this.#parts = {
      picture: new Picture(app),
      scrubber: new Scrubber(app),
      transport: new Transport(app),
      modes: new Modes(app),
      volume: new Volume(app)
    };
    this.#like = iconButton("heart", words("like"), () => this.#toggleLike(), { class: "icon-button like" });
    this.#more = iconButton("more", words("more"), sheets("openMore"));
    this.#chapter =
      h("button", { type: "button", class: "chapter", hidden: true, onclick: sheets("openChapters") }, icon("chapters"),
        h("span", { dir: "auto" }));
    this.#rate = h("button", { type: "button", class: "icon-button text-button", onclick: sheets("openRate") }, "1×");
    this.#sleep = iconButton("moon", words("sleep"), sheets("openSleep"), { class: "icon-button mode" });
    this.#output =
      h("button", { type: "button", class: "pill", onclick: sheets("openOutputs") }, icon("speaker"),
        h("span", { dir: "auto" }));
    this.#upcoming =
      h("a", { class: "upcoming", href: "#/queue", hidden: true }, h("span", { class: "upcoming-word" }, words("next")),
        h("span", { dir: "auto" }));
    this.element = this.#layout();
  }

  #layout() {
    const { picture, scrubber, transport, modes, volume } = this.#parts;
    return h(
      "section", { class: "playing" }, picture.element,
      h("div", { class: "console" },
        h("div", { class: "heading" }, h("div", { class: "names" }, this.#badge, this.#title, this.#artist, this.#album),
          this.#like, this.#more),
        this.#condition, this.#chapter, scrubber.element, transport.element, volume.element,
        h("div", { class: "tools", role: "group", "aria-label": this.#app.words("modes") }, modes.shuffle, modes.repeat,
          this.#rate, this.#sleep, this.#output),
        this.#upcoming));
  }

  wait() {
    return this.#parts.scrubber.wait();
  }

  draw() {
    this.#parts.scrubber.draw();
  }

  // The page became visible or hidden.
  visibilityChanged() {
    this.#parts.picture.update();
  }

  update() {
    const { player, words, format } = this.#app;
    const { state } = player;
    if (state === null) return;
    const { item } = state;
    setText(this.#title, item === null ? words("nothing") : item.title ?? "");
    setText(
      this.#artist,
      item === null ? words("nothingHint") : (item.artists ? format.list(item.artists) : item.artist) ?? item.show ?? "");
    setText(this.#album, item?.albumTitle ?? "");
    for (const part of Object.values(this.#parts)) part.update();
    this.#updateBadge(state);
    this.#updateCondition(state);
    this.#updateChapter(item);
    this.#updateTools(state);
    this.#updateUpcoming(state);
  }

  #updateBadge({ item, ad }) {
    const { words } = this.#app;
    setHidden(this.#badge, !(ad || item?.isLiveStream || item?.isExplicit));
    setText(this.#badge, ad ? words("advertisement") : item?.isLiveStream ? words("live") : words("explicit"));
  }

  // Reason of silence, in words.
  #updateCondition({ state, stall, interruption, error }) {
    const { words } = this.#app;
    let text = "";
    if (state === "stalled")
      text = words(`stall.${stall?.reason}`);
    else if (interruption !== null && state === "interrupted") {
      text = words(interruption.shouldResume ? "interruptedResumes" : "interrupted", { name: interruption.by });
    } else if (error !== null)
      text = words("cannotPlay", { message: error.message });
    setText(this.#condition, text);
    setHidden(this.#condition, text === "");
  }

  #updateChapter(item) {
    const { words } = this.#app;
    setHidden(this.#chapter, item?.chapters === undefined);
    if (item?.chapters === undefined) return;
    const chapter = Array.isArray(item.chapters) ? item.chapters[item.chapterIndex] : undefined;
    setText(this.#chapter.lastChild, chapter?.title ?? words("chapters"));
    set(this.#chapter, { "aria-label": chapter?.title ? words("chapterIs", { title: chapter.title }) : words("chapters") });
  }

  #updateTools({ anchor, sleep, output, item }) {
    const { player, words, format } = this.#app;
    const like = player.command("like");
    const isLiked = item?.isLiked === true;
    set(this.#like, {
      disabled: !like.enabled,
      "aria-pressed": String(isLiked),
      title: like.enabled ? words("like") : this.#app.reason(like)
    });
    setIcon(this.#like, isLiked ? "heart-full" : "heart");
    this.#like.classList.toggle("is-on", isLiked);
    setHidden(this.#like, item === null);
    const rate = player.command("changePlaybackRate");
    const current = anchor.rate !== 0 ? anchor.rate : anchor.defaultRate ?? 1;
    setText(this.#rate, format.rate(current));
    set(this.#rate, {
      disabled: !rate.enabled,
      title: rate.enabled ? words("rate") : this.#app.reason(rate),
      "aria-label": words("rateIs", { rate: format.rate(current) })
    });
    this.#rate.classList.toggle("is-on", current !== 1);
    set(this.#sleep, { disabled: !player.isCurrent || !player.canControl, "aria-pressed": String(sleep !== null) });
    this.#sleep.classList.toggle("is-on", sleep !== null);
    setHidden(this.#output, output === null);
    setText(this.#output.lastChild, output?.description ?? "");
    set(this.#output, {
      "aria-label": words("outputIs", { name: output?.description ?? "" }),
      disabled: !player.isCurrent || !player.canControl
    });
  }

  #updateUpcoming({ upcoming }) {
    setHidden(this.#upcoming, upcoming === null);
    setText(this.#upcoming.lastChild, [upcoming?.title, upcoming?.artist].filter(Boolean).join(" — "));
  }

  #toggleLike() {
    const { player } = this.#app;
    return this.#app.attempt(() => player.run("like", { active: player.state.item.isLiked !== true }));
  }
}
