// The artwork of the item: a still picture, a film over it, and the colours of the page.

import { allowsMotion, artworkPath, filmOf, previewPath, stillOf } from "../artwork.js";
import { dominant, palette } from "../colours.js";
import { h, icon, iconButton, set, setHidden, setIcon } from "../dom.js";
import { preference, setPreference } from "../preferences.js";

const SIZES = [300, 600, 1200];
const SAMPLE = 32;

export class Picture {
  #app;
  #frame;
  #empty = h("div", { class: "picture-empty" }, icon("note"));
  #image = null;
  #film = null;
  #motion;
  #wanted = null;
  #colours = null;

  constructor(app) {
    this.#app = app;
    this.#motion =
      iconButton("still", app.words("still"), () => this.#toggleMotion(), { class: "icon-button motion", hidden: true });
    this.#frame = h("div", { class: "picture-frame" }, this.#empty);
    this.element = h("div", { class: "picture" }, this.#frame, this.#motion);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", () => this.#paint());
    matchMedia("(prefers-reduced-motion: reduce)").addEventListener("change", () => this.update());
  }

  update() {
    if (this.#app.player.state === null) return;
    const { item } = this.#app.player.state;
    this.#showStill(item);
    this.#showFilm(item);
  }

  // Films pause with the music, and while they are hidden.
  #showFilm(item) {
    const isTall = innerHeight > innerWidth * 1.2;
    const film = allowsMotion() ? filmOf(item, isTall) : null;
    const path = film ? artworkPath(film.id, film.type) : null;
    const isWanted = preference("motion") !== "still";
    setHidden(this.#motion, film === null);
    set(this.#motion, {
      "aria-label": this.#app.words(isWanted ? "still" : "moving"),
      title: this.#app.words(isWanted ? "still" : "moving")
    });
    setIcon(this.#motion, isWanted ? "still" : "moving");
    if (this.#film !== null && (path === null || !isWanted || this.#film.dataset.path !== path)) {
      this.#film.remove();
      this.#film = null;
    }
    const moves =
      isWanted && path !== null && this.#app.player.state.state === "playing" && document.visibilityState === "visible";
    if (this.#film === null && moves) {
      this.#film = h("video", {
        class: "film",
        playsinline: true,
        loop: true,
        muted: true,
        "aria-hidden": "true",
        preload: "auto",
        "data-path": path
      });
      this.#film.muted = true;
      this.#film.onplaying = (event) => event.target.classList.add("is-moving");
      this.#film.src = path;
      this.#frame.append(this.#film);
    }
    if (this.#film === null) return;
    // A browser that saves power refuses: the still picture stays.
    if (moves)
      this.#film.play().catch(() => {});
    else
      this.#film.pause();
  }

  #toggleMotion() {
    setPreference("motion", preference("motion") === "still" ? null : "still");
    this.update();
  }

  async #showStill(item) {
    const still = stillOf(item);
    const film = filmOf(item, false);
    const size = SIZES.find((one) => one >= this.element.clientWidth * devicePixelRatio) ?? SIZES.at(-1);
    const path = still !== null ? artworkPath(still.id, still.type, size) : film !== null ? previewPath(film.id) : null;
    if (path?.split("?")[0] === this.#wanted?.split("?")[0]) return;
    this.#wanted = path;
    if (path === null) return this.#replace(null);
    const image = h("img", { alt: "", class: "still", decoding: "async" });
    image.src = path;
    try {
      await image.decode();
    } catch {
      if (this.#wanted === path) this.#replace(null);
      return undefined;
    }
    if (this.#wanted === path) this.#replace(image);
    return undefined;
  }

  #replace(image) {
    const [old, next] = [this.#image ?? this.#empty, image ?? this.#empty];
    this.#image = image;
    if (old !== next) {
      old.after(next);
      const isStill = document.hidden || matchMedia("(prefers-reduced-motion: reduce)").matches;
      // The image may be in use again.
      const end = () => old !== (this.#image ?? this.#empty) && old.remove();
      if (isStill)
        end();
      else
        next.animate([{ opacity: 0 }, { opacity: 1 }], { duration: 400, easing: "ease-out" }).onfinish = end;
    }
    this.#colours = image === null ? null : sample(image);
    this.#paint();
  }

  // The colours of the whole page follow the picture.
  #paint() {
    const root = document.documentElement;
    const names = ["--top", "--bottom", "--text", "--muted", "--accent"];
    const values = this.#colours === null ? {} : palette(this.#colours, matchMedia("(prefers-color-scheme: dark)").matches);
    for (const name of names) {
      if (values[name])
        root.style.setProperty(name, values[name]);
      else
        root.style.removeProperty(name);
    }
  }
}

// The strongest colours of a picture; null if the browser does not let it be read.
function sample(image) {
  const canvas = h("canvas", { width: SAMPLE, height: SAMPLE });
  const context = canvas.getContext("2d", { willReadFrequently: true });
  try {
    context.drawImage(image, 0, 0, SAMPLE, SAMPLE);
    return dominant(context.getImageData(0, 0, SAMPLE, SAMPLE).data);
  } catch {
    return null;
  }
}
