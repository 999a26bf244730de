// Play, pause, skips and jumps, and the modes.

import { h, icon, set, setIcon, setText } from "../dom.js";

const NEXT_REPEAT = { off: "all", all: "one", one: "off" };
const NEXT_SHUFFLE = { off: "items", items: "collections", collections: "off" };

// A button of a remote command: disabled with the daemon's reason.
function commandButton(app, name, iconName, run, extra = {}) {
  const button = h("button", { type: "button", class: "icon-button", ...extra }, icon(iconName));
  button.onclick = async () => {
    button.classList.add("is-busy");
    await app.attempt(run);
    button.classList.remove("is-busy");
  };
  return {
    button,
    update(label) {
      const command = app.player.command(name);
      const reason = command.enabled ? null : app.reason(command);
      set(button, { "aria-label": label, title: reason ? `${label}: ${reason}` : label, disabled: !command.enabled,
        "aria-description": reason });
    },
  };
}

export class Transport {
  #app;
  #buttons;
  #back;
  #ahead;

  constructor(app) {
    this.#app = app;
    const { player } = app;
    this.#back = h("span", { class: "seconds", "aria-hidden": "true" });
    this.#ahead = h("span", { class: "seconds", "aria-hidden": "true" });
    this.#buttons = {
      previousTrack: commandButton(app, "previousTrack", "previous", () => player.run("previousTrack")),
      skipBackward: commandButton(app, "skipBackward", "skip-back", () => player.run("skipBackward")),
      togglePlayPause: commandButton(app, "togglePlayPause", "play", () => player.run(this.#isOn ? "pause" : "play"),
        { class: "icon-button play-button" }),
      skipForward: commandButton(app, "skipForward", "skip-ahead", () => player.run("skipForward")),
      nextTrack: commandButton(app, "nextTrack", "next", () => player.run("nextTrack")),
    };
    this.#buttons.skipBackward.button.append(this.#back);
    this.#buttons.skipForward.button.append(this.#ahead);
    this.element = h("div", { class: "transport", dir: "ltr", role: "group", "aria-label": app.words("transport") },
      Object.values(this.#buttons).map(({ button }) => button));
  }

  get #isOn() {
    return ["playing", "stalled", "interrupted"].includes(this.#app.player.state.state);
  }

  update() {
    const { words, format, player } = this.#app;
    const seconds = (name) => player.command(name).preferredIntervals?.[0];
    for (const [name, label] of [["skipBackward", this.#back], ["skipForward", this.#ahead]]) {
      const interval = seconds(name);
      setText(label, interval === undefined ? "" : String(Math.round(interval)));
      this.#buttons[name].update(interval === undefined ? words(name)
        : words(`${name}By`, { time: format.unit(interval, "second") }));
    }
    this.#buttons.previousTrack.update(words("previousTrack"));
    this.#buttons.nextTrack.update(words("nextTrack"));
    this.#buttons.togglePlayPause.update(words(this.#isOn ? "pause" : "play"));
    setIcon(this.#buttons.togglePlayPause.button, this.#isOn ? "pause" : "play");
  }
}

// Shuffle and repeat: one button each, which goes through the modes.
export class Modes {
  #app;
  #shuffle;
  #repeat;

  constructor(app) {
    this.#app = app;
    const { player } = app;
    this.#shuffle = commandButton(app, "changeShuffleMode", "shuffle",
      () => player.run("changeShuffleMode", { mode: NEXT_SHUFFLE[player.state.shuffleMode] }), { class: "icon-button mode" });
    this.#repeat = commandButton(app, "changeRepeatMode", "repeat",
      () => player.run("changeRepeatMode", { mode: NEXT_REPEAT[player.state.repeatMode] }), { class: "icon-button mode" });
    this.shuffle = this.#shuffle.button;
    this.repeat = this.#repeat.button;
  }

  update() {
    const { player, words } = this.#app;
    const { shuffleMode, repeatMode } = player.state;
    this.#shuffle.update(words(`shuffle.${shuffleMode}`));
    this.#repeat.update(words(`repeat.${repeatMode}`));
    setIcon(this.repeat, repeatMode === "one" ? "repeat-one" : "repeat");
    setIcon(this.shuffle, shuffleMode === "collections" ? "shuffle-albums" : "shuffle");
    this.shuffle.classList.toggle("is-on", shuffleMode !== "off");
    this.repeat.classList.toggle("is-on", repeatMode !== "off");
  }
}
