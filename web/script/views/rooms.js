// The rooms of a Snapcast server: volume, mute, and a sheet of rare settings.

import { h, icon, iconButton, set, setHidden, setText } from "../dom.js";
import { openChoices, openSheet } from "../parts/sheet.js";
import { VolumeSlider } from "../parts/volume.js";
import { Rooms } from "../rooms.js";

const LONGEST_LATENCY = 10000;

export class RoomsView {
  #app;
  #rooms;
  #list = h("div", { class: "cards" });
  #note = h("p", { class: "note", role: "status" });
  #help = h("p", { class: "note", hidden: true }, h("code", {}, "nowplayingctl setup rooms"));
  // The card of each room, by its id: it stays while a finger is on it.
  #cards = new Map();
  #isShown = false;

  constructor(app) {
    this.#app = app;
    const { words, player } = app;
    this.#rooms = new Rooms(player, () => this.#draw());
    this.element =
      h("section", { class: "page narrow" },
        h("header", { class: "page-head" },
          h("a", { href: "#/more", class: "icon-button", "aria-label": words("back") }, icon("back")),
          h("h1", { class: "title" }, words("rooms"))),
        this.#note, this.#help, this.#list);
  }

  show() {
    this.#isShown = true;
    this.#follow();
  }

  hide() {
    this.#isShown = false;
    this.#rooms.unfollow();
  }

  // A hidden page needs no connection of the server.
  visibilityChanged() {
    if (!this.#isShown) return;
    if (document.visibilityState === "visible") this.#follow();
    else this.#rooms.unfollow();
  }

  update() {
    this.#follow();
    this.#draw();
  }

  async #follow() {
    if (document.visibilityState !== "visible") return;
    await this.#rooms.follow().catch((error) => error.isOffline || setText(this.#note, this.#app.explain(error)));
  }

  #draw() {
    const { words } = this.#app;
    const { list, problem, isKnown } = this.#rooms;
    if (!isKnown) return;
    setText(this.#note, problem !== null ? words(`rooms.${problem}`) : words(list.length > 0 ? "roomsHint" : "noRooms"));
    setHidden(this.#help, problem !== "disabled");
    for (const [id, card] of this.#cards) {
      if (list.some((room) => room.id === id)) continue;
      card.element.remove();
      this.#cards.delete(id);
    }
    list.forEach((room, index) => {
      const card = this.#cards.get(room.id) ?? new RoomCard(this.#app, this.#rooms, room);
      this.#cards.set(room.id, card);
      card.update(room);
      if (this.#list.children[index] !== card.element) this.#list.insertBefore(card.element, this.#list.children[index] ?? null);
    });
  }
}

class RoomCard {
  #app;
  #rooms;
  #room;
  #name = h("h2", { dir: "auto" });
  #state = h("span", { class: "badge" });
  #companions = h("p", { class: "item-artist", dir: "auto" });
  #slider;
  #settings;

  constructor(app, rooms, room) {
    this.#app = app;
    this.#rooms = rooms;
    this.#room = room;
    const { id } = room;
    this.#slider = new VolumeSlider(app, 100, 1, (params) => app.attempt(() => rooms.setVolume(id, params)));
    this.#settings = iconButton("settings", app.words("settingsOf", { name: room.name }), () => openRoom(app, rooms, this.#room));
    this.element = h("article", { class: "session", "data-room": id },
      h("header", {}, icon("speaker"), this.#name, this.#state, this.#settings), this.#companions, this.#slider.element);
  }

  update(room) {
    const { words, player } = this.#app;
    this.#room = room;
    const { name, connected, muted, group } = room;
    const companions = this.#rooms.companions(room).map((other) => other.name);
    setText(this.#name, name);
    setText(this.#state, words(connected ? group.muted ? "roomGroupMuted" : "roomConnected" : "roomOff"));
    setText(this.#companions, companions.length > 0 ? words("roomWith", { names: this.#app.format.list(companions) }) : "");
    setHidden(this.#companions, companions.length === 0);
    this.#slider.update({
      volume: room.volume, muted, isQuiet: muted || group.muted, isDisabled: !(player.isCurrent && player.canOperate),
      labels: { mute: words("muteOf", { name }), volume: words("volumeOf", { name }) }
    });
    const label = words("settingsOf", { name });
    set(this.#settings, { "aria-label": label, title: label, disabled: !(player.isCurrent && player.canControl) });
  }
}

// Name, group and latency of a room. Each is set when it was chosen. A room that is not connected can be removed.
function openRoom(app, rooms, room) {
  const { words } = app;
  const configure = (params) => app.attempt(() => rooms.configure(room.id, params));
  const name = h("input", { type: "text", maxlength: 128, value: room.name, autocomplete: "off", dir: "auto" });
  name.onchange = () => configure({ name: name.value.trim() });
  const [companion] = rooms.companions(room);
  const group = h("select", {}, h("option", { value: "" }, words("roomAlone")),
    rooms.list.filter((other) => other.id !== room.id).map(
      (other) => h("option", { value: other.id, selected: other.id === companion?.id }, other.name)));
  group.onchange = () => configure(group.value === "" ? { leave: true } : { join: group.value });
  const latency = h("input", {
    type: "number", min: -LONGEST_LATENCY, max: LONGEST_LATENCY, step: 1, value: room.latency, inputmode: "numeric",
    "aria-describedby": "latency-hint"
  });
  latency.onchange = () => latency.value !== "" && latency.checkValidity() && configure({ latency: Number(latency.value) });
  const mute = h("input", { type: "checkbox", class: "switch" });
  mute.checked = room.group.muted;
  mute.onchange = () => app.attempt(() => rooms.setVolume(room.id, { groupMuted: mute.checked }));
  const row = (word, field) => h("label", { class: "row" }, h("span", {}, words(word)), field);
  const sheet = openSheet(
    app, words("settingsOf", { name: room.name }), row("roomName", name), row("roomGroup", group),
    row("roomGroupMuted", mute), row("latency", latency),
    h("p", { class: "note", id: "latency-hint" }, words("latencyHint")),
    room.connected ? null : h("div", { class: "actions" },
      h("button", {
        type: "button",
        class: "secondary",
        onclick: () => {
          sheet.close();
          askToRemove(app, rooms, room);
        }
      },
        words("remove"))));
}

function askToRemove(app, rooms, { id, name }) {
  const { words } = app;
  openChoices(
    app, words("removeRoomSure", { name }),
    [{ label: words("remove"), run: () => rooms.remove(id) }, { label: words("cancel"), run: async () => {} }],
    words("removeRoomHint"));
}
