// All sessions: each plays for itself. Take over, pause, make quiet, close.

import { h, icon } from "../dom.js";
import { latest } from "../latest.js";

export class SessionsView {
  #app;
  #list = h("div", { class: "cards" });
  #isShown = false;
  // The slider or the list under a finger: cards stay as they are until it is free. Null if there is none.
  #held = null;
  #refresh;

  constructor(app) {
    this.#app = app;
    const { words } = app;
    this.#refresh = latest(() => this.#load());
    this.element =
      h("section", { class: "page narrow" },
        h("header", { class: "page-head" },
          h("a", { href: "#/more", class: "icon-button", "aria-label": words("back") }, icon("back")),
          h("h1", { class: "title" }, words("sessions"))),
        h("p", { class: "note" }, words("sessionsHint")), this.#list);
    // A button that is redrawn between press and release gets no click.
    this.#list.onpointerdown = () => (this.#held ??= this.#list);
    for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => this.#release(this.#list));
  }

  show() {
    this.#isShown = true;
    if (this.#app.player.isCurrent) this.#refresh();
  }

  hide() {
    this.#isShown = false;
    this.#held = null;
  }

  update() {
    if (this.#isShown && this.#app.player.isCurrent) this.#refresh();
  }

  async #load() {
    const { player } = this.#app;
    if (this.#held !== null) return;
    const answer = await this.#app.attempt(() => player.call("session.list"));
    if (answer === undefined) return;
    const states =
      await Promise.all(answer.sessions.map(({ name }) => player.call("nowPlaying.get", { session: name }).catch(() => null)));
    if (this.#held !== null) return;
    const focused = document.activeElement?.dataset?.key;
    // A silent session can't be chosen while another one sounds, unless it is paused or waits for its source.
    const heard = answer.sessions.filter(({ state, canBecomeActive }) => state === "playing" && canBecomeActive);
    const canTake = ({ name, active, canBecomeActive, state }) => !active && canBecomeActive &&
      (["playing", "paused", "stalled"].includes(state) || heard.every((other) => other.name === name));
    this.#list.replaceChildren(
      ...answer.sessions.map((session, index) => this.#card(session, states[index], canTake(session))));
    if (focused) this.#list.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  }

  #card(session, state, canTake) {
    const { words, player } = this.#app;
    const { name, active, external } = session;
    const item = state?.item ?? null;
    const act = (key, word, run, attributes = {}) =>
      h("button", {
        type: "button",
        class: "secondary",
        "data-key": `${name} ${key}`,
        disabled: !player.canControl,
        onclick: async () => {
          await this.#app.attempt(run);
          this.#refresh();
        },
        ...attributes
      },
        words(word));
    const isOn = state?.state === "playing";
    return h(
      "article", { class: `session${active ? " is-active" : ""}` },
      h("header", {}, h("h2", { dir: "auto" }, name),
        h("span", { class: "badge" }, active ? words("sessionActive") : words(`state.${session.state}`))),
      h("p", { class: "item-title", dir: "auto" }, item?.title ?? words("nothing")),
      h("p", { class: "item-artist", dir: "auto" }, item?.artist ?? ""),
      h("div", { class: "actions" },
        canTake && act("take", "takeOver", () => player.call("session.activate", { name })),
        item &&
          act("play", isOn ? "pause" : "play", () => player.call(isOn ? "pause" : "play", { session: name }),
            { disabled: !player.canOperate }),
        name !== "main" && act("close", "closeSession", () => player.call("session.close", { name }))),
      !external && state && this.#volume(name, state));
  }

  #volume(name, state) {
    const { words, player } = this.#app;
    const send = latest((volume) => this.#app.attempt(() => player.call("volume.set", { volume, session: name })));
    const range = h("input", {
      type: "range",
      min: 0,
      max: 1,
      step: 0.01,
      class: "volume-range",
      "aria-label": words("volumeOf", { name }),
      disabled: !player.canOperate,
      "data-key": `${name} volume`
    });
    range.value = state.volume;
    const show = () => range.style.setProperty("--share", `${range.value * 100}%`);
    range.oninput = () => {
      show();
      send(Number(range.value));
    };
    range.onpointerdown = () => (this.#held = range);
    // A slider that returns to its old value has no change; one that loses its pointer may have no pointerup.
    range.onchange = range.onpointerup = range.onpointercancel = range.onblur = () => this.#release(range);
    show();
    return h("div", { class: "volume", dir: "ltr" }, icon("volume"), range);
  }

  // The cards may be old.
  #release(range) {
    if (this.#held !== range) return;
    this.#held = null;
    this.#refresh();
  }
}
