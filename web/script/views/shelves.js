// Rows and tiles of the library: tracks, albums, artists, lists, folders, and the results of a search.

import { h, icon, iconButton } from "../dom.js";
import { ALBUM_ORDER, albumFilter } from "../library.js";
import { makeCover } from "../parts/cover.js";
import { endless } from "../parts/pages.js";
import { openChoices } from "../parts/sheet.js";

const link = (...parts) => `#/library/${parts.map(encodeURIComponent).join("/")}`;
const KINDS = [
  ["artist", "artists"], ["album", "albums"], ["track", "tracks"], ["genre", "genres"], ["list", "lists"],
  ["folder", "folders"]
];

export class Shelves {
  #app;
  #library;

  constructor(app, library) {
    this.#app = app;
    this.#library = library;
  }

  // The elements of one shelf; `rest` are the further parts of the address.
  draw(shelf, [one, two]) {
    switch (shelf) {
      case "albums":
        return [this.#heading("albums"), this.#albums()];
      case "album":
        return this.#tracks(one, { filter: albumFilter(one, two), sort: ALBUM_ORDER }, two, true);
      case "artists":
        return [this.#heading("artists"), this.#values("artist", "person", "artist")];
      case "artist":
        return this.#tracks(one, { filter: { artist: { is: one } }, sort: ALBUM_ORDER });
      case "genres":
        return [this.#heading("genres"), this.#values("genre", "genre", "genre")];
      case "genre":
        return this.#tracks(one, { filter: { genre: { is: one } }, sort: ["artist", ...ALBUM_ORDER] });
      case "lists":
        return [this.#heading("lists"), this.#saveButton(), this.#lists()];
      case "list":
        return this.#list(one);
      case "folders":
        return this.#folder(one);
      default:
        return [this.#heading("library")];
    }
  }

  // Albums that came last.
  recent() {
    const seen = new Set();
    return endless(
      this.#app, "tiles",
      async () => {
        const { rows } = await this.#library.tracks({ not: { album: { missing: true } } }, ["-added", "album"], undefined);
        return {
          rows: rows.filter(({ albumId }) => albumId !== undefined && !seen.has(albumId) && seen.add(albumId)).slice(0, 12)
        };
      },
      (rows) => rows.map(
        ({ album, artist, albumId }) =>
          this.#tile(album, artist, h("a", { href: link("album", album, ""), class: "tile" }), async () => albumId)),
      this.#app.words("libraryEmpty"));
  }

  results(rows) {
    const { words } = this.#app;
    if (rows.length === 0) return [h("p", { class: "empty" }, words("nothingFound"))];
    return KINDS.flatMap(([kind, word]) => {
      const some = rows.filter((row) => row.kind === kind);
      if (some.length === 0) return [];
      const body = kind === "album" ?
        h("div", { class: "tiles" },
          some.slice(0, 8).map(
            (row) => this.#tile(
              row.name, row.artist, h("a", { href: link("album", row.name, row.artist ?? ""), class: "tile" }),
              () => this.#library.albumId(row.filter)))) :
        h("div", { class: "rows", role: "list" }, some.slice(0, kind === "track" ? 30 : 6).map((row) => this.#result(row)));
      return [h("h2", { class: "section" }, words(word)), body];
    });
  }

  #result(row) {
    switch (row.kind) {
      case "track":
        return this.#track(row.title !== undefined ? row : { ...row, title: row.name });
      case "artist":
        return this.#linkRow(row.name, link("artist", row.name), "person");
      case "genre":
        return this.#linkRow(row.name, link("genre", row.name), "genre");
      case "list":
        return this.#linkRow(row.name, link("list", row.name), "list");
      default:
        return this.#linkRow(row.name, link("folders", row.path ?? row.name), "folder");
    }
  }

  #heading(word, text = this.#app.words(word), back = "#/library") {
    return h(
      "div", { class: "shelf-head" },
      h("a", { href: back, class: "icon-button", "aria-label": this.#app.words("back") }, icon("back")),
      h("h2", { class: "shelf-title", dir: "auto" }, text));
  }

  #tile(name, detail, element, find) {
    element.append(
      makeCover(this.#library, find), h("span", { class: "tile-name", dir: "auto" }, name),
      h("span", { class: "tile-detail", dir: "auto" }, detail ?? ""));
    return h("div", { role: "listitem" }, element);
  }

  #albums() {
    const { words } = this.#app;
    return endless(
      this.#app, "tiles", (after) => this.#library.values("album", { after, group: ["albumArtist"] }),
      (rows) => rows.filter(({ value }) => value !== "").map(({ value, group }) => {
        const artist = Array.isArray(group) ? group[0] : group?.albumArtist;
        return this.#tile(
          value, artist, h("a", { href: link("album", value, artist ?? ""), class: "tile" }),
          () => this.#library.albumId(albumFilter(value, artist)));
      }),
      words("libraryEmpty"));
  }

  #values(tag, iconName, shelf) {
    const { words } = this.#app;
    return endless(
      this.#app, "rows", (after) => this.#library.values(tag, { after }),
      (rows) =>
        rows.filter(({ value }) => value !== "")
          .map(({ value, tracks }) => this.#linkRow(value, link(shelf, value), iconName, words("items", { count: tracks }))),
      words("libraryEmpty"));
  }

  #linkRow(name, href, iconName, detail = "") {
    return h(
      "div", { role: "listitem" },
      h("a", { href, class: "link-row" }, icon(iconName), h("span", { class: "link-name", dir: "auto" }, name),
        h("span", { class: "link-detail" }, detail), icon("forward")));
  }

  // Tracks with a heading and buttons for all of them.
  #tracks(title, question, artist = "", isAlbum = false) {
    const { words } = this.#app;
    return [
      this.#heading("", title),
      this.#allButtons(question, isAlbum ? () => this.#library.albumId(question.filter) : null, artist),
      endless(
        this.#app, "rows", (after) => this.#library.tracks(question.filter, question.sort, after),
        (rows) => rows.map((row) => this.#track(row, isAlbum)), words("nothingFound"))
    ];
  }

  #allButtons(things, findAlbum, detail = "") {
    const { words } = this.#app;
    const add = (how) => () => this.#add(things, how);
    return h(
      "div", { class: findAlbum ? "album-head" : "actions" }, findAlbum && makeCover(this.#library, findAlbum, 600),
      h("div", { class: "actions" }, detail && h("p", { class: "album-artist", dir: "auto" }, detail),
        h("button", { type: "button", class: "primary", onclick: add({ play: true }) }, icon("play"), words("playAll")),
        h("button", { type: "button", class: "secondary", onclick: add({ next: true }) }, icon("play-next"),
          words("playNext")),
        h("button", { type: "button", class: "secondary", onclick: add({}) }, icon("add-end"), words("addEnd"))));
  }

  #track(row, isAlbum = false) {
    const { words, format } = this.#app;
    const things = row.uri ? { uris: [row.uri] } : { filter: row.filter };
    const title = row.title ?? words("untitled");
    return h(
      "div", { class: "item", role: "listitem" },
      h("button", { type: "button", class: "item-main", onclick: () => this.#add(things, { play: true }) },
        isAlbum && h("span", { class: "item-number" }, row.trackNumber === undefined ? "" : String(row.trackNumber)),
        h("span", { class: "item-names" }, h("span", { class: "item-title", dir: "auto" }, title),
          h("span", { class: "item-artist", dir: "auto" },
            [row.artist, isAlbum ? null : row.album].filter(Boolean).join(" · "))),
        h("span", { class: "item-time" }, row.duration ? format.time(row.duration) : "")),
      iconButton(
        "more", words("moreOf", { title }), () => openChoices(this.#app, title, [
                                              { label: words("play"), run: () => this.#add(things, { play: true }) },
                                              { label: words("playNext"), run: () => this.#add(things, { next: true }) },
                                              { label: words("addEnd"), run: () => this.#add(things, {}) },
                                            ])));
  }

  async #add(things, how) {
    const { words } = this.#app;
    const answer = await this.#app.attempt(() => this.#library.add(things, how));
    if (answer === undefined) return;
    if (how.play)
      location.hash = "#/";
    else
      this.#app.notice(words("added", { count: answer.count ?? answer.ids?.length ?? 1 }));
  }

  #lists() {
    const { words } = this.#app;
    return endless(
      this.#app, "rows", async () => ({ rows: (await this.#library.lists()).lists }),
      (rows) => rows.map(
        ({ name, count }) =>
          this.#linkRow(name, link("list", name), "list", count === undefined ? "" : words("items", { count }))),
      words("noLists"));
  }

  #list(name) {
    const { words } = this.#app;
    return [
      this.#heading("", name, "#/library/lists"), this.#allButtons({ list: name }, null),
      endless(
        this.#app, "rows",
        async (after) => {
          const { rows, next } = await this.#library.list(name, after);
          return { rows: rows.filter((row) => row !== null), next };
        },
        (rows) => rows.map((row) => this.#track(row)), words("nothingFound"))
    ];
  }

  #saveButton() {
    const { words } = this.#app;
    const name =
      h("input", { "aria-label": words("listName"), placeholder: words("listName"), maxlength: 200, required: true });
    return h(
      "form", {
        class: "actions",
        onsubmit: async (event) => {
          event.preventDefault();
          const answer = await this.#app.attempt(() => this.#library.saveQueue(name.value.trim()));
          if (answer !== undefined) location.hash = link("list", name.value.trim());
        }
      },
      name, h("button", { class: "secondary" }, words("saveQueue")));
  }

  #folder(path) {
    const { words } = this.#app;
    const up = path?.includes("/") ? link("folders", path.slice(0, path.lastIndexOf("/"))) :
      path                         ? "#/library/folders" :
                                     "#/library";
    return [
      this.#heading("folders", path ? path.slice(path.lastIndexOf("/") + 1) : words("folders"), up),
      ...(
        path ? [this.#allButtons({ filter: { folder: { below: path } }, sort: ["uri"] }, null)] :
               []),
      endless(
        this.#app, "rows", (after) => this.#library.folder(path, after),
        (rows) => rows.map(
          (row) => row.kind === "folder" ?
            this.#linkRow(row.name ?? row.path.split("/").at(-1), link("folders", row.path), "folder") :
            this.#track(row)),
        words("nothingFound"))
    ];
  }
}
