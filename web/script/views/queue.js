// The queue: all items, in their order; play, move, remove, undo.

import { artworkPath, stillOf } from "../artwork.js";
import { h, icon, iconButton, set, setHidden, setText } from "../dom.js";
import { makeDraggable } from "../parts/drag.js";
import { openChoices } from "../parts/sheet.js";
import { VirtualList } from "../parts/virtual-list.js";
import { Queue } from "../queue.js";

// Limit of a queue whose clearing can be undone.
const MOST_RESTORED = 500;

export class QueueView {
  #app;
  #queue;
  #list;
  #drag;
  #summary = h("p", { class: "summary" });
  #empty;
  #actions;
  #wasShown = false;

  constructor(app) {
    this.#app = app;
    const { words, player } = app;
    this.#queue = new Queue(player, () => this.#draw());
    this.#list = new VirtualList({
      label: words("queue"),
      makeRow: () => this.#makeRow(),
      fillRow: (row, index) => this.#fillRow(row, index),
      wanted: (first, last) => this.#queue.want(first, last),
    });
    this.#drag = makeDraggable(
      this.#list, (item) => this.#queue.indexOf(item), (item, from, to) => this.#move(item, from, to));
    this.#empty = h("p", { class: "empty" }, words("queueEmpty"));
    this.#actions = h(
      "div", { class: "actions" },
      h("button", { type: "button", class: "secondary", onclick: () => this.#reveal() }, icon("note"), words("showCurrent")),
      h("button", {
        type: "button",
        class: "secondary",
        "data-needs": "control",
        onclick: () => app.attempt(() => this.#queue.shuffle())
      },
        icon("shuffle"), words("shuffleQueue")),
      h("button", { type: "button", class: "secondary", "data-needs": "control", onclick: () => this.#clear() },
        icon("trash"), words("clear")));
    this.element =
      h("section", { class: "page" },
        h("header", { class: "page-head" }, h("h1", { class: "title" }, words("queue")), this.#summary), this.#actions,
        this.#empty, this.#list.element);
  }

  show() {
    this.#list.show();
  }

  hide() {
    this.#list.hide();
    this.#wasShown = false;
  }

  update() {
    const { player, words } = this.#app;
    this.#queue.update();
    const { count } = this.#queue;
    setText(this.#summary, words("items", { count }));
    setHidden(this.#empty, count > 0);
    setHidden(this.#actions, count === 0);
    for (const button of this.#actions.querySelectorAll("[data-needs]"))
      button.disabled = !player.isCurrent || !player.canControl;
    this.#draw();
    if (!this.#wasShown && count > 0) {
      this.#wasShown = true;
      if ((player.state.queue.index ?? 0) > 8) this.#reveal();
    }
  }

  #draw() {
    if (this.element.isConnected) this.#list.count = this.#queue.count;
  }

  #reveal() {
    const { index } = this.#app.player.state.queue;
    if (index !== null) this.#list.reveal(index);
  }

  #makeRow() {
    const { words } = this.#app;
    const row = h("div", { class: "item" });
    const index = () => Number(row.dataset.index);
    const play =
      h("button", { type: "button", class: "item-main", onclick: () => this.#play(index()) },
        h("span", { class: "item-picture" }, icon("note"),
          h("img", { alt: "", loading: "lazy", width: 44, height: 44, hidden: true })),
        h("span", { class: "item-names" }, h("span", { class: "item-title", dir: "auto" }),
          h("span", { class: "item-artist", dir: "auto" })),
        h("span", { class: "item-time" }));
    const handle = iconButton("grip", words("drag"), null, { class: "icon-button grip" });
    handle.onclick = () => this.#drag.isClick() && this.#menu(index());
    handle.onpointerdown = (event) => this.#drag.begin(event, this.#queue.item(index()), index());
    const more = iconButton("more", words("more"), () => this.#menu(index()));
    row.append(play, more, handle);
    return row;
  }

  #fillRow(row, index) {
    const { player, format, words } = this.#app;
    const item = this.#queue.item(index);
    const [play, more, handle] = row.children;
    const [picture, names, time] = play.children;
    row.dataset.index = index;
    row.classList.toggle("is-loading", item === undefined);
    const isCurrent = item !== undefined && item.id === player.state.item?.id;
    row.classList.toggle("is-current", isCurrent);
    set(row, { "aria-current": isCurrent ? "true" : null });
    setText(names.children[0], item?.title ?? (item ? words("untitled") : ""));
    setText(names.children[1], item ? [item.artist, item.albumTitle].filter(Boolean).join(" · ") : "");
    setText(time, item?.duration ? format.time(item.duration) : "");
    const still = stillOf(item);
    const image = picture.lastChild;
    setHidden(image, still === null);
    if (still !== null) set(image, { src: artworkPath(still.id, still.type, 300) });
    const isDisabled = item === undefined || !player.isCurrent || !player.canControl;
    for (const button of [play, more, handle]) set(button, { disabled: isDisabled });
    // A loading row has no name yet.
    set(play, { "aria-label": item === undefined ? format.number(index + 1) : null });
    set(more, { "aria-label": words("moreOf", { title: item?.title ?? "" }) });
    set(handle, { "aria-label": words("dragOf", { title: item?.title ?? "" }) });
  }

  #play(index) {
    const item = this.#queue.item(index);
    return this.#app.attempt(() => this.#queue.play(item));
  }

  #menu(index) {
    const { words, player } = this.#app;
    const item = this.#queue.item(index);
    const current = player.state.queue.index ?? -1;
    const after = index > current ? current + 1 : current;
    openChoices(this.#app, item.title ?? words("untitled"), [
      { label: words("play"), run: () => this.#queue.play(item) },
      { label: words("playNext"), isDisabled: index === current || index === after, run: () => this.#move(item, index, after) },
      { label: words("moveUp"), isDisabled: index === 0, run: () => this.#move(item, index, index - 1) },
      { label: words("moveDown"), isDisabled: index >= this.#queue.count - 1, run: () => this.#move(item, index, index + 1) },
      { label: words("moveFirst"), isDisabled: index === 0, run: () => this.#move(item, index, 0) },
      {
        label: words("moveLast"),
        isDisabled: index >= this.#queue.count - 1,
        run: () => this.#move(item, index, this.#queue.count - 1)
      },
      { label: words("remove"), run: () => this.#remove(item, index) },
    ]);
  }

  async #move(item, from, to) {
    const { words, player } = this.#app;
    if (item === undefined) return;
    const answer = await this.#app.attempt(() => this.#queue.move(item, to));
    if (answer === undefined) return;
    const { session } = player.state;
    this.#app.notice(
      words("moved", { title: item.title ?? "" }), () => player.call("queue.move", { ids: [item.id], to: from, session }));
  }

  async #remove(item, index) {
    const { words } = this.#app;
    const answer = await this.#app.attempt(() => this.#queue.remove(item));
    if (answer === undefined) return;
    this.#app.notice(words("removed", { title: item.title ?? "" }), item.uri ? () => this.#queue.restore(item, index) : null);
  }

  async #clear() {
    const { words, player } = this.#app;
    const { session } = player.state;
    const { count } = this.#queue;
    const run = async () => {
      const fields = ["uri", "title", "artist", "albumTitle", "duration"];
      const old = count <= MOST_RESTORED ? await player.call("queue.list", { limit: MOST_RESTORED, fields, session }) : null;
      await this.#queue.clear();
      const items = old?.items ?? [];
      const canRestore = items.length === old?.count && items.every((item) => item.uri);
      this.#app.notice(words("cleared", { count }), canRestore ? () => player.call("queue.add", { items, session }) : null);
    };
    if (count <= MOST_RESTORED)
      await this.#app.attempt(run);
    else
      openChoices(
        this.#app, words("clearSure", { count }),
        [{ label: words("clear"), run }, { label: words("cancel"), run: async () => {} }]);
  }
}
