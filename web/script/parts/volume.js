// The volume and its mute button.

import { h, iconButton, set, setIcon } from "../dom.js";
import { latest } from "../latest.js";

const LOW = 0.34;

// A slider from 0 to `max`, with a mute button. `send({volume, muted})` sets one of them, or both, and returns a promise.
//
// A move of the slider ends the mute that it finds, as people move it to hear something: by its first value alone, so that a
// mute that comes during the move stays.
export class VolumeSlider {
  #app;
  #max;
  #mute;
  #range;
  #isMuted = false;
  #isHeld = false;
  // True if the next value ends the mute.
  #unmutes = false;

  constructor(app, max, step, send) {
    this.#app = app;
    this.#max = max;
    const move = latest((volume) => {
      const unmutes = this.#unmutes;
      this.#unmutes = false;
      return send(unmutes ? { volume, muted: false } : { volume });
    });
    this.#mute = iconButton("volume", app.words("mute"), () => send({ muted: !this.#isMuted }));
    this.#range = h("input", { type: "range", min: 0, max, step, class: "volume-range" });
    this.#range.oninput = () => {
      if (!this.#isHeld) this.#unmutes = this.#isMuted;
      this.#isHeld = true;
      this.#show(Number(this.#range.value));
      move(Number(this.#range.value));
    };
    // A drag that ends where it began changes nothing: the browser reports no change.
    for (const end of ["change", "pointerup", "pointercancel", "keyup", "blur"]) {
      this.#range.addEventListener(end, () => {
        this.#isHeld = false;
      });
    }
    this.element = h("div", { class: "volume", dir: "ltr" }, this.#mute, this.#range);
  }

  // `isQuiet`: nothing is heard, be it by this mute or by another one. `labels`: {mute, volume}.
  update({ volume, muted, isQuiet = muted, isDisabled, labels }) {
    const { words } = this.#app;
    this.#isMuted = muted;
    set(this.#mute, {
      "aria-pressed": String(muted), "aria-label": labels.mute, title: words(muted ? "unmute" : "mute"), disabled: isDisabled
    });
    set(this.#range, { "aria-label": labels.volume, disabled: isDisabled });
    setIcon(this.#mute, muted ? "muted" : volume < LOW * this.#max ? "volume-low" : "volume");
    this.element.classList.toggle("is-muted", isQuiet);
    if (this.#isHeld) return;
    this.#range.value = volume;
    this.#show(volume);
  }

  #show(volume) {
    const share = volume / this.#max;
    this.#range.style.setProperty("--share", `${share * 100}%`);
    set(this.#range, { "aria-valuetext": this.#app.format.percent(share) });
  }
}

// The volume of the player.
export class Volume {
  #app;
  #slider;

  constructor(app) {
    this.#app = app;
    this.#slider = new VolumeSlider(app, 1, 0.01, (params) => app.attempt(() => app.player.call("volume.set", params)));
    this.element = this.#slider.element;
  }

  update() {
    const { player, words } = this.#app;
    const { volume, muted } = player.state;
    const isDisabled = !player.isCurrent || !player.canOperate;
    this.#slider.update({ volume, muted, isDisabled, labels: { mute: words("mute"), volume: words("volume") } });
  }
}
