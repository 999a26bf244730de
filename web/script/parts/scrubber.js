// The bar of the position: elapsed and remaining time, chapters, and seeking by pointer and keys.

import { h, set, setHidden, setText } from "../dom.js";
import { labels, nextChange } from "../position.js";

const STEPS = { ArrowLeft: -5, ArrowDown: -5, ArrowRight: 5, ArrowUp: 5, PageDown: -60, PageUp: 60 };

export class Scrubber {
  #app;
  #fill = h("div", { class: "scrub-fill" });
  #knob = h("div", { class: "scrub-knob" });
  #marks = h("div", { class: "scrub-marks" });
  #range;
  #elapsed = h("span");
  #remaining = h("span");
  #wanted = null;
  #duration;

  constructor(app) {
    this.#app = app;
    this.#range = h("input", { type: "range", min: 0, step: "any", class: "scrub-range", "aria-label": app.words("position") });
    // Position runs from left to right in every language, as on every player.
    this.element = h("div", { class: "scrubber", dir: "ltr" },
      h("div", { class: "scrub-track" }, h("div", { class: "scrub-line" }, this.#fill), this.#marks, h("div", { class: "scrub-rail" }, this.#knob), this.#range),
      h("div", { class: "times", "aria-hidden": "true" }, this.#elapsed, this.#remaining));
    this.#range.oninput = () => this.#preview(Number(this.#range.value));
    this.#range.onchange = () => this.#commit();
    this.#range.onfocus = () => this.#speak();
    this.#range.onkeydown = (event) => this.#key(event);
    this.#range.onkeyup = (event) => event.key in STEPS && this.#commit();
  }

  // Seconds until the next visible change.
  wait() {
    const { player } = this.#app;
    if (this.#wanted !== null) return Infinity;
    return nextChange(player.position(), this.#duration, player.rate, this.element.clientWidth);
  }

  // A new state or other commands.
  update() {
    const { player, words } = this.#app;
    const { item, ad } = player.state;
    this.#duration = item?.isLiveStream ? undefined : item?.duration;
    const command = player.command("changePlaybackPosition");
    const isBounded = this.#duration !== undefined && !ad;
    setHidden(this.element, item === null);
    this.element.classList.toggle("is-endless", !isBounded);
    set(this.#range, {
      max: this.#duration ?? 1, disabled: !command.enabled || !isBounded, "aria-description": this.#app.reason(command),
      title: command.enabled ? null : this.#app.reason(command),
    });
    this.#drawMarks(Array.isArray(item?.chapters) ? item.chapters : []);
    setText(this.#remaining, ad ? words("advertisement") : "");
    this.#speak();
  }

  draw() {
    const position = this.#wanted ?? this.#app.player.position();
    const { elapsed, remaining } = labels(position, this.#duration);
    const share = this.#duration ? Math.min(1, position / this.#duration) : 0;
    this.#fill.style.transform = `scaleX(${share})`;
    this.#knob.style.transform = `translateX(${share * 100}%)`;
    setText(this.#elapsed, this.#app.format.time(elapsed));
    const { ad, item } = this.#app.player.state;
    const end = ad ? this.#app.words("advertisement") : item?.isLiveStream ? this.#app.words("live") : "";
    setText(this.#remaining, end || (remaining === null ? "" : `−${this.#app.format.time(remaining)}`));
  }

  // The text for screen readers. It changes at events and keys, not each second.
  #speak() {
    const { player, words, format } = this.#app;
    const position = this.#wanted ?? player.position();
    this.#range.value = position;
    set(this.#range, {
      "aria-valuetext": this.#duration === undefined ? format.spoken(position)
        : words("positionOf", { position: format.spoken(position), duration: format.spoken(this.#duration) }),
    });
  }

  #preview(position) {
    this.#wanted = Math.max(0, Math.min(position, this.#duration ?? 0));
    this.#app.tick();
    this.#speak();
  }

  #key(event) {
    const step = STEPS[event.key];
    if (this.#wanted === null) this.#range.value = this.#app.player.position();
    if (step === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    this.#preview((this.#wanted ?? this.#app.player.position()) + step);
  }

  #commit() {
    if (this.#wanted === null) return;
    const target = this.#wanted;
    this.#wanted = null;
    this.#app.attempt(() => this.#app.player.seek(target));
  }

  #drawMarks(chapters) {
    const key = JSON.stringify([chapters.map((one) => one.start), this.#duration]);
    if (this.#marks.dataset.key === key) return;
    this.#marks.dataset.key = key;
    this.#marks.replaceChildren(...chapters.filter((one) => one.start > 0 && this.#duration).map((one) => {
      const mark = h("i");
      mark.style.insetInlineStart = `${(one.start / this.#duration) * 100}%`;
      return mark;
    }));
  }
}
