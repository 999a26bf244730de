// The volume and its mute button.

import { h, iconButton, set, setIcon } from "../dom.js";
import { latest } from "../latest.js";

export class Volume {
  #app;
  #mute;
  #range;
  #isHeld = false;

  constructor(app) {
    this.#app = app;
    const { player, words } = app;
    const send = latest((volume) => app.attempt(() => player.call("volume.set", { volume, muted: false })));
    this.#mute =
      iconButton("volume", words("mute"), () => app.attempt(() => player.call("volume.set", { muted: !player.state.muted })));
    this.#range =
      h("input", { type: "range", min: 0, max: 1, step: 0.01, class: "volume-range", "aria-label": words("volume") });
    this.#range.oninput = () => {
      this.#isHeld = true;
      this.#show(Number(this.#range.value));
      send(Number(this.#range.value));
    };
    const release = () => {
      this.#isHeld = false;
    };
    this.#range.onchange = release;
    // A drag that ends where it began changes nothing: the browser reports no change.
    for (const end of ["pointerup", "pointercancel", "keyup", "blur"]) this.#range.addEventListener(end, release);
    this.element = h("div", { class: "volume", dir: "ltr" }, this.#mute, this.#range);
  }

  update() {
    const { player, words } = this.#app;
    const { volume, muted } = player.state;
    const isDisabled = !player.isCurrent || !player.canControl;
    set(this.#mute, {
      "aria-pressed": String(muted),
      "aria-label": words("mute"),
      title: words(muted ? "unmute" : "mute"),
      disabled: isDisabled
    });
    set(this.#range, { disabled: isDisabled });
    setIcon(this.#mute, muted ? "muted" : volume < 0.34 ? "volume-low" : "volume");
    this.element.classList.toggle("is-muted", muted);
    if (this.#isHeld) return;
    this.#range.value = volume;
    this.#show(volume);
  }

  #show(volume) {
    this.#range.style.setProperty("--share", `${volume * 100}%`);
    set(this.#range, { "aria-valuetext": this.#app.format.percent(volume) });
  }
}
