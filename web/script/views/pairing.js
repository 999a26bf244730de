// Pairing of a browser without rights. The code comes from `nowplayingctl pair`.

import { h, setHidden, setText } from "../dom.js";

// A code in the address, from the QR code: /#12345678.
export function codeInAddress(hash) {
  const found = /^#(?:code=)?(\d[\d -]{3,14}\d)$/.exec(hash);
  return found === null ? null : found[1];
}

// A name for the list of devices, from the browser's user agent.
export function deviceName(agent) {
  const system =
    [
      ["iPhone", /iPhone/], ["iPad", /iPad/], ["Android", /Android/], ["Mac", /Macintosh/], ["Windows", /Windows/],
      ["Linux", /Linux/]
    ].find(([, pattern]) => pattern.test(agent))
      ?.[0];
  const browser =
    [["Edge", /Edg\//], ["Firefox", /Firefox|FxiOS/], ["Chrome", /Chrom(e|ium)|CriOS/], ["Safari", /Safari/]]
      .find(([, pattern]) => pattern.test(agent))
      ?.[0];
  return [browser, system].filter(Boolean).join(", ") || "Browser";
}

export class PairingView {
  #app;
  #code;
  #name;
  #problem = h("p", { class: "condition", role: "alert", hidden: true });
  #button;

  constructor(app) {
    this.#app = app;
    const { words } = app;
    this.#code = h("input", {
      id: "code",
      name: "code",
      autocomplete: "one-time-code",
      inputmode: "numeric",
      spellcheck: "false",
      required: true,
      maxlength: 16,
      class: "code",
      "aria-describedby": "code-hint"
    });
    this.#name = h("input", { id: "device-name", name: "name", maxlength: 60, required: true, autocomplete: "off" });
    this.#name.value = deviceName(navigator.userAgent);
    this.#button = h("button", { class: "primary" }, words("pairButton"));
    const form =
      h("form", {
        class: "card",
        onsubmit: (event) => {
          event.preventDefault();
          this.#pair();
        }
      },
        h("h1", { class: "title" }, words("pairTitle")),
        h("p", { id: "code-hint" }, words("pairHint"), " ", h("code", {}, "nowplayingctl pair")), h("label", { for: "code"
        }, words("pairCode")), this.#code, h("label", { for: "device-name"
        }, words("pairName")), this.#name, this.#problem, this.#button);
    this.element = h("section", { class: "pairing" }, form);
  }

  show() {
    const code = codeInAddress(location.hash);
    if (code !== null) {
      this.#code.value = code;
      // The code leaves the address, and with it the history.
      history.replaceState(null, "", "./");
    }
    this.#code.focus();
  }

  update() {}

  async #pair() {
    const { words } = this.#app;
    setHidden(this.#problem, true);
    this.#button.disabled = true;
    const body = JSON.stringify({ code: this.#code.value.trim(), name: this.#name.value.trim() });
    let status = 0;
    try {
      const answer = await fetch("pair", { method: "POST", headers: { "Content-Type": "application/json" }, body });
      status = answer.status;
    } catch {
      status = 0;
    }
    this.#button.disabled = false;
    if (status >= 200 && status < 300) return this.#app.paired();
    setText(this.#problem, words(status === 0 ? "reason.offline" : status === 429 ? "pairSlow" : "pairWrong"));
    setHidden(this.#problem, false);
    this.#code.select();
    return undefined;
  }
}
