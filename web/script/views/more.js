// Sessions, announcements, devices, and the settings of this browser.

import { h, icon, setHidden } from "../dom.js";
import { preference, setPreference } from "../preferences.js";
import { LANGUAGES } from "../words.js";

const LINKS = [["sessions", "sessions"], ["rooms", "speaker"], ["announce", "announce"], ["devices", "devices"]];

export class MoreView {
  #app;

  constructor(app) {
    this.#app = app;
    const { words } = app;
    this.element = h("section", { class: "page narrow" },
      h("header", { class: "page-head" }, h("h1", { class: "title" }, words("moreTab"))),
      h("nav", { class: "shelf-links", "aria-label": words("moreTab") }, LINKS.map(([name, iconName]) =>
        h("a", { href: `#/${name}`, class: "shelf-link", hidden: name === "rooms" }, icon(iconName), h("span", {}, words(name)), icon("forward")))),
      h("h2", { class: "section" }, words("thisBrowser")), this.#language(), this.#motion(), this.#lockScreen(),
      h("p", { class: "note", id: "lock-screen-price" }, words("lockScreenPrice")));
  }

  // Without a Snapcast server there are no rooms.
  update() {
    setHidden(this.element.querySelector("[href='#/rooms']"), !this.#app.player.hasRooms);
  }

  #language() {
    const { words, language } = this.#app;
    const names = (tag) => new Intl.DisplayNames(tag, { type: "language" }).of(tag);
    const select = h("select", {}, h("option", { value: "" }, words("languageAuto")),
      LANGUAGES.map((tag) => h("option", { value: tag, selected: preference("language") === tag, lang: tag }, names(tag))));
    select.onchange = () => {
      setPreference("language", select.value || null);
      location.reload();
    };
    return h("label", { class: "row", "data-language": language }, h("span", {}, words("language")), select);
  }

  #motion() {
    const box = h("input", { type: "checkbox", class: "switch" });
    box.checked = preference("motion") !== "still";
    box.onchange = () => setPreference("motion", box.checked ? null : "still");
    return h("label", { class: "row" }, h("span", {}, this.#app.words("motion")), box);
  }

  #lockScreen() {
    const { words } = this.#app;
    const box = h("input", { type: "checkbox", class: "switch", "aria-describedby": "lock-screen-price" });
    box.checked = this.#app.lockScreen?.isOn === true;
    box.disabled = !("mediaSession" in navigator);
    box.onchange = async () => {
      const { LockScreen } = await import("../lock-screen.js");
      this.#app.lockScreen ??= new LockScreen(this.#app);
      // A browser plays only after a gesture, such as this one.
      box.checked = await this.#app.lockScreen.turn(box.checked);
    };
    return h("label", { class: "row" }, h("span", {}, words("lockScreen")), box);
  }
}
