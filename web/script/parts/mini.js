// The player below the other views: title, a thin bar of the position, play and pause.

import { artworkPath, stillOf } from "../artwork.js";
import { h, iconButton, set, setHidden, setIcon, setText } from "../dom.js";
import { nextChange } from "../position.js";

export class Mini {
  #app;
  #image = h("img", { alt: "", width: 44, height: 44 });
  #title = h("span", { class: "mini-title", dir: "auto" });
  #artist = h("span", { class: "mini-artist", dir: "auto" });
  #bar = h("div", { class: "mini-bar", "aria-hidden": "true" });
  #button;

  constructor(app) {
    this.#app = app;
    this.#button = iconButton("play", app.words("play"), () => app.attempt(() => app.player.run("togglePlayPause")));
    this.element = h(
      "div", { class: "mini", hidden: true },
      h("a", { href: "#/", class: "mini-link" }, this.#image, h("span", { class: "mini-names" }, this.#title, this.#artist)),
      this.#button, h("div", { class: "mini-line", dir: "ltr" }, this.#bar));
  }

  get #isShown() {
    return this.element.offsetParent !== null;
  }

  wait() {
    const { player } = this.#app;
    if (!this.#isShown || !player.state?.item?.duration) return Infinity;
    const { item } = player.state;
    // Half a pixel of a thin bar is not visible: only the bar decides.
    return nextChange(player.position(), item.duration, player.rate, this.element.clientWidth);
  }

  update() {
    const { player, words } = this.#app;
    const { item, state } = player.state;
    setHidden(this.element, item === null);
    if (item === null) return;
    setText(this.#title, item.title ?? "");
    setText(this.#artist, item.artist ?? "");
    const still = stillOf(item);
    setHidden(this.#image, still === null);
    if (still !== null) set(this.#image, { src: artworkPath(still.id, still.type, 300) });
    const isOn = state === "playing";
    const command = player.command("togglePlayPause");
    set(this.#button, {
      "aria-label": words(isOn ? "pause" : "play"),
      title: this.#app.reason(command) ?? words(isOn ? "pause" : "play"),
      disabled: !command.enabled
    });
    setIcon(this.#button, isOn ? "pause" : "play");
  }

  draw() {
    if (!this.#isShown) return;
    const { item } = this.#app.player.state ?? {};
    this.#bar.style.transform = `scaleX(${item?.duration ? Math.min(1, this.#app.player.position() / item.duration) : 0})`;
  }
}
