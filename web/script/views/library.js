// The library: one box to search everything, and shelves of artists, albums, lists and folders.

import { h, icon, setHidden } from "../dom.js";
import { latest } from "../latest.js";
import { Library } from "../library.js";

import { Shelves } from "./shelves.js";

const SHELVES =
  [["albums", "album"], ["artists", "person"], ["genres", "genre"], ["lists", "list"], ["folders", "folder"]];

export class LibraryView {
  #app;
  #library;
  #shelves;
  #search;
  #results = h("div", { class: "results", hidden: true });
  // Rows of the results as text: equal ones stay as they are, under the finger that touches them.
  #rows;
  #shelf = h("div", { class: "shelf" });
  #key = null;
  // The connection that has a subscription: see Player.connections.
  #connection = 0;

  constructor(app) {
    this.#app = app;
    const { words, player } = app;
    this.#library = new Library(player);
    this.#shelves = new Shelves(app, this.#library);
    this.#search = h("input", {
      type: "search",
      class: "search",
      placeholder: words("searchHint"),
      "aria-label": words("search"),
      enterkeyhint: "search",
      autocomplete: "off",
      spellcheck: "false"
    });
    const ask = latest((text) => this.#ask(text));
    this.#search.oninput = () => {
      this.#results.ariaBusy = "true";
      ask(this.#search.value.trim());
    };
    this.element =
      h("section", { class: "page" }, h("header", { class: "page-head" }, h("h1", { class: "title" }, words("library"))),
        h("div", { class: "search-box" }, icon("search"), this.#search), this.#results, this.#shelf);
    player.onNotification("library.changed", () => this.#changed());
  }

  show(parts) {
    const key = JSON.stringify(parts);
    if (key === this.#key) return;
    this.#key = key;
    this.#search.value = "";
    setHidden(this.#results, true);
    setHidden(this.#shelf, false);
    if (this.#app.player.isCurrent)
      this.#draw();
    else
      this.#shelf.replaceChildren();
  }

  update(change) {
    const { player } = this.#app;
    if (change !== "state" || this.#key === null || !player.isCurrent) return;
    // The connection draws a view that was opened before.
    if (this.#shelf.childElementCount === 0) this.#draw();
    if (this.#connection === player.connections) return;
    // Changes between two connections are unknown.
    this.#subscribe();
    this.#changed();
  }

  // An open shelf stays unchanged; the first page, and an empty one, follow the library.
  #changed() {
    this.#library.forget();
    if (this.#key === "[]" || this.#shelf.querySelector(".empty") !== null) this.#draw();
  }

  #draw() {
    this.#subscribe();
    const [shelf, ...rest] = JSON.parse(this.#key);
    this.#shelf.replaceChildren(...(shelf ? this.#shelves.draw(shelf, rest) : this.#home()));
  }

  // The server ends the subscription with the connection.
  #subscribe() {
    const { player } = this.#app;
    this.#connection = player.connections;
    player.call("library.subscribe").catch(() => {});
  }

  #home() {
    const { words } = this.#app;
    return [
      h("nav", { class: "shelf-links", "aria-label": words("library") },
        SHELVES.map(
          ([name, iconName]) =>
            h("a", { href: `#/library/${name}`, class: "shelf-link" }, icon(iconName), h("span", {}, words(name)),
              icon("forward")))),
      h("h2", { class: "section" }, words("recent")), this.#shelves.recent()
    ];
  }

  async #ask(text) {
    if (text === "") {
      setHidden(this.#results, true);
      setHidden(this.#shelf, false);
      return;
    }
    const answer = await this.#app.attempt(() => this.#library.search(text));
    if (answer === undefined || this.#search.value.trim() === "") return;
    setHidden(this.#shelf, true);
    setHidden(this.#results, false);
    if (this.#search.value.trim() === text) this.#results.ariaBusy = "false";
    const rows = JSON.stringify(answer.rows);
    if (rows === this.#rows) return;
    this.#rows = rows;
    this.#results.replaceChildren(...this.#shelves.results(answer.rows));
  }
}
