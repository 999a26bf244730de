// The page: one connection, one state, one view at a time.

import { ServerClock } from "./clock.js";
import { Connection } from "./connection.js";
import { h, icon, iconButton, set, setHidden, setText } from "./dom.js";
import { Format } from "./format.js";
import { Mini } from "./parts/mini.js";
import { Player } from "./player.js";
import { preference } from "./preferences.js";
import { readRoute } from "./route.js";
import { CallError, request, socketAddress } from "./rpc.js";
import { Ticker } from "./ticker.js";
import { direction, loadWords, pickLanguage } from "./words.js";

const REASONS = [
  "advertisement", "live stream", "not seekable", "empty queue", "no current item", "turned off by a client", "read only",
  "offline", "denied"
];
// Reasons and kinds of errors that the page has in all its languages.
const ERRORS = [
  "noDaemon", "tooManyClients", "unavailable", "noAnswer", "noList", "noSession", "noSuchItem", "permission", "disabled",
  "inUse", "outOfRange", "queueFull", "tooLarge", "tooMany", "diskFull", "tooSlow", "deviceNotFound"
];
// The same for close codes of the server.
const ENDINGS = { 1001: "webEnds", 1008: "rights", 1012: "noDaemon", 1013: "tooManyClients" };
// The tab of each view, and the module of those that load when they are first shown.
const VIEWS = {
  "": { tab: "", load: async () => (await import("./views/playing.js")).PlayingView },
  pairing: { tab: null, load: async () => (await import("./views/pairing.js")).PairingView },
  queue: { tab: "queue", load: async () => (await import("./views/queue.js")).QueueView },
  library: { tab: "library", load: async () => (await import("./views/library.js")).LibraryView },
  more: { tab: "more", load: async () => (await import("./views/more.js")).MoreView },
  sessions: { tab: "more", load: async () => (await import("./views/sessions.js")).SessionsView },
  rooms: { tab: "more", load: async () => (await import("./views/rooms.js")).RoomsView },
  announce: { tab: "more", load: async () => (await import("./views/announce.js")).AnnounceView },
  devices: { tab: "more", load: async () => (await import("./views/devices.js")).DevicesView },
};
// Pairing has no address: it appears when it is needed.
const ROUTES = Object.keys(VIEWS).filter((name) => name !== "pairing");
const TABS = [
  ["", "playing", "note"], ["queue", "queue", "queue"], ["library", "library", "library"],
  ["more", "moreTab", "more-tab"]
];

const isVisible = () => document.visibilityState === "visible";
const timers = {
  isVisible,
  setTimer: (action, seconds) => setTimeout(action, seconds * 1000),
  clearTimer: (timer) => clearTimeout(timer),
};

// A hidden page has no frames. Chromium may never start an animation that waits for its first one: it draws frames without
// end when the page is visible again.
function showMotion() {
  document.documentElement.classList.toggle("is-hidden", !isVisible());
  if (!isVisible()) for (const one of document.getAnimations()) one.finish();
}

// Between two attempts to load the words.
const pause = () => new Promise((done) => timers.setTimer(done, 2));

class App {
  player;
  words;
  format;
  language;
  connection;
  clock = new ServerClock(() => performance.now() / 1000, () => Date.now() / 1000);
  #views = new Map();
  #view = null;
  #mini;
  #ticker;
  #lastItem = null;
  #wanted = null;
  // The view that could not be loaded; null if the wanted one is here.
  #missing = null;
  // The daemon's refusal of the page's first calls; null if there is none.
  #refusal = null;

  constructor() {
    this.connection = new Connection(
      {
        ...timers,
        random: Math.random,
        now: () => Date.now() / 1000,
        isRefused: () => this.#isRefused(),
        openSocket: () => new WebSocket(socketAddress(document.baseURI), "nowplaying.1"),
      },
      {
        changed: (state) => this.#connectionChanged(state),
        notified: (method, params) => this.player.notified(method, params)
      });
    this.player = new Player(this.connection, this.clock, [...navigator.languages]);
    this.#ticker = new Ticker(timers, () => this.#wait(), () => this.#draw());
  }

  async start() {
    this.language = pickLanguage(preference("language"), navigator.languages);
    // The connection opens while the words load.
    this.connection.connect();
    this.words = await loadWords(this.language, pause);
    this.format = new Format(this.language);
    document.documentElement.lang = this.language;
    document.documentElement.dir = direction(this.language);
    this.#mini = new Mini(this);
    set(document.querySelector("#mini"), { "aria-label": this.words("playing") });
    document.querySelector("#mini").append(this.#mini.element);
    this.#drawTabs();
    this.player.listen((change) => this.#changed(change));
    addEventListener("hashchange", () => this.#route());
    document.addEventListener("visibilitychange", () => this.#visibilityChanged());
    showMotion();
    addEventListener("pageshow", (event) => event.persisted && this.#wake());
    addEventListener("online", () => this.#wake());
    addEventListener("resize", () => this.tick());
    document.addEventListener("resume", () => this.#wake());
    document.addEventListener("keydown", (event) => this.#key(event));
    await this.#route();
  }

  // Draws the position now, and from now on at each visible change.
  tick() {
    if (this.words) this.#ticker.update();
  }

  // The reason of a disabled command, in the reader's language where the page knows it; null if it is enabled.
  reason({ enabled, reason }) {
    if (enabled || reason === undefined) return null;
    return REASONS.includes(reason) ? this.words(`reason.${reason}`) : reason;
  }

  // Runs a call; a failure becomes a notice, and the value is undefined.
  async attempt(run) {
    try {
      return await run();
    } catch (error) {
      this.notice(this.explain(error));
      return undefined;
    }
  }

  explain(error) {
    if (error.isOffline) return this.words("reason.offline");
    if (error.status === "denied") return this.words("reason.denied");
    return this.#said(ERRORS.find((one) => one === error.reason || one === error.status), error.message);
  }

  // A text of the server in the reader's language: the page's text for the key, or else the server's own.
  #said(key, text) {
    const isRead = this.language === "en" && text !== "";
    return key !== undefined && !isRead ? this.words(`error.${key}`) : text || this.words("failed");
  }

  // One line over the page, with a way to undo if there is one. It stays until it is closed or replaced.
  notice(text, undo = null) {
    const box = document.querySelector("#notice");
    const close = () => box.replaceChildren();
    box.replaceChildren(
      h("div", { class: "notice" }, h("span", { dir: "auto" }, text),
        undo &&
          h("button", {
            type: "button",
            class: "text-button",
            onclick: () => {
              close();
              this.attempt(undo);
            }
          },
            this.words("undo")),
        iconButton("close", this.words("close"), close)));
  }

  paired() {
    this.connection.retry();
  }

  // ---- events

  async #connectionChanged(state) {
    if (state === "open") {
      try {
        await this.player.opened();
      } catch (error) {
        // The connection has ended; the next one starts anew.
        if (error.isOffline) return;
        if (!(error instanceof CallError)) throw error;
        this.#refusal = error;
        this.connection.giveUp();
        return;
      }
      this.#refusal = null;
      this.connection.prove();
      if (this.#missing !== null) this.#route();
    } else if (this.player.isCurrent) {
      this.player.lost();
    }
    if (this.words) this.#showConnection(state);
  }

  #showConnection(state) {
    const isKnown = this.player.state !== null;
    document.body.classList.toggle("is-stale", !this.player.isCurrent && isKnown);
    document.body.classList.toggle("is-empty", !isKnown);
    const banner = document.querySelector("#connection");
    setHidden(banner, this.player.isCurrent || state === "refused");
    const words = this.words(isKnown ? "reconnecting" : "connecting");
    setText(banner, [words, this.#whyAway()].filter(Boolean).join(" "));
    if (state === "refused" && this.#view !== this.#views.get("pairing"))
      this.#show("pairing");
    else if (this.player.isCurrent && this.#view === this.#views.get("pairing"))
      this.#route();
  }

  // The server's reason for the missing connection, if known.
  #whyAway() {
    if (this.#refusal !== null) return this.explain(this.#refusal);
    const { code, reason } = this.connection.ending;
    return reason === "" ? "" : this.#said(ENDINGS[code], reason);
  }

  #changed(change) {
    if (change !== "position") {
      this.#showConnection(this.connection.state);
      if (this.player.state !== null) {
        document.body.classList.toggle("is-quiet", this.player.state.state !== "playing");
        this.#view?.update?.(change);
        this.#mini.update();
        this.#announceItem();
      }
    }
    this.tick();
  }

  // The title of the window and, once for each item, a line for screen readers.
  #announceItem() {
    const { item, state } = this.player.state;
    const name = item === null ? "" : [item.title, item.artist].filter(Boolean).join(" — ");
    const title = [state === "playing" ? "▶" : "", name, this.words("product")].filter(Boolean).join(" ").trim();
    if (document.title !== title) document.title = title;
    if (this.#lastItem !== null && this.#lastItem !== name && isVisible()) setText(document.querySelector("#status"), name);
    this.#lastItem = name;
  }

  #wait() {
    return this.player.state === null ? Infinity : Math.min(this.#view?.wait?.() ?? Infinity, this.#mini.wait());
  }

  #draw() {
    if (this.player.state === null) return;
    this.#view?.draw?.();
    this.#mini.draw();
    this.player.refreshClock();
  }

  #visibilityChanged() {
    showMotion();
    if (isVisible())
      this.#wake();
    else
      this.#ticker.update();
    this.#view?.visibilityChanged?.();
  }

  #wake() {
    if (!isVisible()) return;
    if (this.#missing !== null) this.#route();
    this.connection.wake(() => {
      const answer = this.player.call("clock.now", { sent: performance.now() / 1000 });
      answer.then(() => this.player.synchronize({ isFresh: true })).then(() => this.tick()).catch(() => {});
      return answer;
    });
    this.tick();
  }

  // A browser hides the reason of a failed upgrade; a POST gets 401 or 403.
  async #isRefused() {
    try {
      const answer = await fetch("rpc", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: request(1, "hello", { client: "page" })
      });
      if (answer.status === 503) this.#refusal = new CallError((await answer.json()).error);
      if (this.words) this.#showConnection(this.connection.state);
      return answer.status === 401 || answer.status === 403;
    } catch {
      return false;
    }
  }

  // ---- views

  #drawTabs() {
    document.querySelector("#skip").textContent = this.words("skipLink");
    set(document.querySelector("#tabs"), { "aria-label": this.words("sections") });
    document.querySelector("#tabs").replaceChildren(...TABS.map(
      ([path, word, iconName]) =>
        h("a", { href: `#/${path}`, "data-tab": path }, icon(iconName), h("span", {}, this.words(word)))));
  }

  async #route() {
    if (this.connection.state === "refused") return this.#show("pairing", []);
    const { name, parts } = readRoute(location.hash, ROUTES);
    return this.#show(name, parts);
  }

  async #show(name, parts = []) {
    const wanted = (this.#wanted = {});
    this.#missing = null;
    if (!this.#views.has(name)) {
      const View = await VIEWS[name].load().catch(() => null);
      if (View === null) {
        if (this.#wanted === wanted) this.#miss(name);
        return;
      }
      if (!this.#views.has(name)) this.#views.set(name, new View(this));
    }
    if (this.#wanted !== wanted) return;
    const view = this.#views.get(name);
    const main = document.querySelector("#main");
    if (this.#view !== view) {
      const isFirst = this.#view === null;
      this.#view?.hide?.();
      this.#view = view;
      main.replaceChildren(view.element);
      if (!isFirst) main.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
    document.body.dataset.view = name || "playing";
    for (const tab of document.querySelectorAll("#tabs a")) {
      set(tab, { "aria-current": tab.dataset.tab === VIEWS[name].tab ? "page" : null });
    }
    view.show?.(parts);
    if (this.player.state !== null) view.update?.("state");
    this.#showConnection(this.connection.state);
    this.tick();
  }

  // The view comes with the next connection, or when the page wakes.
  #miss(name) {
    this.#missing = name;
    this.notice(this.words("reason.offline"));
  }

  // Space plays and pauses unless a control takes it.
  #key(event) {
    if (event.key !== " " || event.target.closest("input, button, a, select, textarea, dialog, [tabindex='0']")) return;
    if (this.player.state === null) return;
    event.preventDefault();
    this.attempt(() => this.player.run("togglePlayPause"));
  }
}

export const app = new App();
app.start();
