// The paired devices. A device sees and revokes itself; the daemon's own user sees all.

import { h, icon } from "../dom.js";
import { openChoices } from "../parts/sheet.js";

export class DevicesView {
  #app;
  #list = h("div", { class: "cards" });

  constructor(app) {
    this.#app = app;
    const { words } = app;
    this.element =
      h("section", { class: "page narrow" },
        h("header", { class: "page-head" },
          h("a", { href: "#/more", class: "icon-button", "aria-label": words("back") }, icon("back")),
          h("h1", { class: "title" }, words("devices"))),
        h("p", { class: "note" }, words("devicesHint"), " ", h("code", {}, "nowplayingctl pair")), this.#list);
  }

  show() {
    if (this.#app.player.isCurrent) this.#load();
  }

  async #load() {
    const { player, words } = this.#app;
    const answer = await this.#app.attempt(() => player.call("devices.list"));
    const devices = answer?.devices ?? [];
    this.#list.replaceChildren(...(
      devices.length > 0 ? devices.map((device) => this.#card(device)) : [h("p", { class: "empty" }, words("noDevices"))]));
  }

  #card({ id, name, role, lastUsed }) {
    const { words, format, player } = this.#app;
    const revoke = async () => {
      await player.call("devices.revoke", { id });
      await this.#load();
    };
    return h(
      "article", { class: "session" },
      h("header", {}, icon("devices"), h("h2", { dir: "auto" }, name), h("span", { class: "badge" }, words(`role.${role}`))),
      h("p", { class: "item-artist" }, lastUsed ? words("lastUsed", { time: format.moment(lastUsed) }) : ""),
      h("div", { class: "actions" },
        h("button", {
          type: "button",
          class: "secondary",
          onclick: () => openChoices(
            this.#app, words("revokeSure", { name }),
            [{ label: words("revoke"), run: revoke }, { label: words("cancel"), run: async () => {} }])
        },
          words("revoke"))));
  }
}
