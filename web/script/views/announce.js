// Announcements: a sound file, or a text if the server has a speech program.

import { h, icon, set, setHidden, setText } from "../dom.js";

const MOST_BYTES = 16 * 1024 * 1024;
const MOST_CHARACTERS = 1000;
// Texts for the statuses of a refusal; others have a text of the server, or mean that the file is not a sound.
const FAILURES = { 403: "reason.denied", 413: "announceLarge", 429: "announceBusy" };

export class AnnounceView {
  #app;
  #status = h("p", { class: "condition", role: "status", hidden: true });
  #speech;
  #text;
  #drop;

  constructor(app) {
    this.#app = app;
    const { words } = app;
    const file = h("input", { type: "file", accept: "audio/*", class: "unseen", id: "sound" });
    file.onchange = () => this.#sendFile(file.files[0]);
    this.#drop = h("label", { for: "sound", class: "drop" }, icon("announce"), h("strong", {}, words("dropSound")),
      h("span", {}, words("dropHint")));
    this.#drop.ondragover = (event) => {
      event.preventDefault();
      this.#drop.classList.add("is-over");
    };
    this.#drop.ondragleave = () => this.#drop.classList.remove("is-over");
    this.#drop.ondrop = (event) => {
      event.preventDefault();
      this.#drop.classList.remove("is-over");
      this.#sendFile(event.dataTransfer.files[0]);
    };
    this.#text = h("textarea", { id: "speech", rows: 3, maxlength: MOST_CHARACTERS, required: true });
    this.#speech = h("form", { class: "stack", hidden: true, onsubmit: (event) => {
      event.preventDefault();
      this.#send(this.#text.value, "text/plain; charset=utf-8");
    } }, h("label", { for: "speech" }, words("speak")), this.#text,
    h("button", { class: "primary" }, icon("announce"), words("announce")));
    this.element = h("section", { class: "page narrow" },
      h("header", { class: "page-head" },
        h("a", { href: "#/more", class: "icon-button", "aria-label": words("back") }, icon("back")),
        h("h1", { class: "title" }, words("announce"))),
      h("p", { class: "note" }, words("announceHint")), file, this.#drop, this.#speech, this.#status);
  }

  update() {
    const { player } = this.#app;
    setHidden(this.#speech, player.capabilities.speech !== true);
    const isDisabled = !player.isCurrent || !player.canControl;
    set(this.element.querySelector("input[type=file]"), { disabled: isDisabled });
    for (const control of this.#speech.elements) control.disabled = isDisabled;
  }

  #sendFile(file) {
    if (file === undefined) return;
    if (file.size > MOST_BYTES) this.#show(this.#app.words("announceLarge"));
    else this.#send(file, file.type || "application/octet-stream");
  }

  async #send(body, type) {
    const { words } = this.#app;
    this.#show(words("announceSending"));
    try {
      const answer = await fetch("announce?wait", { method: "POST", headers: { "Content-Type": type }, body });
      if (answer.ok) {
        this.#text.value = "";
        this.#show(words("announceDone"));
      } else if (FAILURES[answer.status] === undefined && answer.headers.get("Content-Type")?.startsWith("text/plain")) {
        this.#show(await answer.text());
      } else this.#show(words(FAILURES[answer.status] ?? "announceFailed"));
    } catch {
      this.#show(words("reason.offline"));
    }
    this.element.querySelector("input[type=file]").value = "";
  }

  #show(text) {
    setText(this.#status, text);
    setHidden(this.#status, false);
  }
}
