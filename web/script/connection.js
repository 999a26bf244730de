// The WebSocket to nowplaying-web: calls, notifications, and a new socket when the old one is gone.
//
// States: "connecting", "open", "waiting" (for the next attempt), "refused" (this browser has to be paired), "idle".
// Nothing is scheduled while the page is hidden: `wake` continues when it is visible again.

import { CallError, messages, request } from "./rpc.js";

const FIRST_DELAY = 0.5;
// Maximum seconds between attempts of a visible page.
const LONGEST_DELAY = 5;
// A socket that does not answer for this long after a sleep is replaced.
const PROBE = 0.25;
// An attempt of this age began in a network that may be gone.
const LONGEST_ATTEMPT = 1;

// After a shorter useful socket, the page waits: the next one may end as fast.
const SHORTEST_USE = 1;

const NOTHING_SAID = { code: 0, reason: "" };

// The progress of a socket.
const Stage = { attempt: "attempt", admitted: "admitted", useful: "useful" };

export class Connection {
  #environment;
  #events;
  #socket = null;
  #calls = new Map();
  #lastId = 0;
  #timer = null;
  #failures = 0;
  #state = "idle";
  #stage = Stage.attempt;
  #began = 0;
  #ending = NOTHING_SAID;

  // environment: openSocket(), isVisible(), isRefused() (a promise), setTimer(action, seconds), clearTimer(timer), random(),
  // now() (seconds of a clock that runs while the machine sleeps; it may step).
  // events: changed(state), notified(method, params).
  constructor(environment, events) {
    this.#environment = environment;
    this.#events = events;
  }

  get state() {
    return this.#state;
  }

  // The server's close code (RFC 6455, section 7.4) and reason of the last socket; none for a useful socket.
  get ending() {
    return this.#ending;
  }

  connect() {
    this.#stopTimer();
    const socket = this.#environment.openSocket();
    this.#socket = socket;
    this.#stage = Stage.attempt;
    this.#began = this.#environment.now();
    const isCurrent = () => this.#socket === socket;
    socket.onopen = () => {
      if (!isCurrent()) return;
      this.#stage = Stage.admitted;
      this.#change("open");
    };
    socket.onmessage = (event) => {
      if (isCurrent()) for (const message of messages(event.data)) this.#receive(message);
    };
    socket.onclose = (event) => {
      if (isCurrent()) this.#lost(event);
    };
    this.#change("connecting");
  }

  // The daemon has answered on this socket. nowplaying-web opens one, and answers some calls, without the daemon.
  prove() {
    if (this.#state !== "open") return;
    this.#stage = Stage.useful;
    this.#ending = NOTHING_SAID;
  }

  // Closes an open but useless socket. The next one comes later.
  giveUp() {
    if (this.#state !== "open") return;
    const socket = this.#socket;
    this.#stage = Stage.admitted;
    this.#lost();
    socket.close();
  }

  // Sends a request; the promise fails with a CallError.
  call(method, params = {}) {
    if (this.#state !== "open") return Promise.reject(CallError.offline());
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#calls.set(id, { resolve, reject });
      this.#socket.send(request(id, method, params));
    });
  }

  // Checks the socket, or opens another, when the page is visible again, the network is back, or the machine slept.
  wake(probe) {
    if (this.#state === "waiting") {
      this.connect();
    } else if (this.#state === "connecting") {
      if (this.#age >= LONGEST_ATTEMPT) this.#replace();
    } else if (this.#state === "open") {
      const socket = this.#socket;
      this.#stopTimer();
      this.#timer = this.#environment.setTimer(() => {
        this.#timer = null;
        if (this.#socket === socket) this.#replace();
      }, PROBE);
      probe().then(() => this.#socket === socket && this.#stopTimer(), () => {});
    }
  }

  // Tries again after a refusal, as this browser was paired.
  retry() {
    this.#failures = 0;
    this.#replace();
  }

  // Seconds since the socket was made.
  get #age() {
    return Math.abs(this.#environment.now() - this.#began);
  }

  #replace() {
    const old = this.#socket;
    this.#socket = null;
    old?.close();
    this.#failCalls();
    this.connect();
  }

  #receive(message) {
    if (typeof message.method === "string") {
      this.#events.notified(message.method, message.params ?? {});
      return;
    }
    const call = this.#calls.get(message.id);
    if (call === undefined) return;
    this.#calls.delete(message.id);
    if (message.error) call.reject(new CallError(message.error));
    else call.resolve(message.result);
  }

  async #lost({ code = 0, reason = "" } = {}) {
    const stage = this.#stage;
    // The browser makes codes of its own, without a reason.
    if (reason !== "") this.#ending = { code, reason };
    this.#socket = null;
    this.#stopTimer();
    this.#failCalls();
    const wasUseful = stage === Stage.useful && this.#age >= SHORTEST_USE;
    this.#failures = wasUseful ? 0 : this.#failures + 1;
    this.#change("waiting");
    // Reopens a socket that worked at once. A browser hides the status of a refused upgrade, so request it.
    if (wasUseful) return this.#environment.isVisible() && this.connect();
    if (stage === Stage.attempt && await this.#environment.isRefused()) return this.#state === "waiting" && this.#change("refused");
    if (this.#state === "waiting" && this.#timer === null && this.#environment.isVisible()) this.#schedule();
    return undefined;
  }

  #schedule() {
    const longest = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** (this.#failures - 1));
    this.#timer = this.#environment.setTimer(() => {
      this.#timer = null;
      if (this.#environment.isVisible()) this.connect();
    }, longest * (0.5 + this.#environment.random() / 2));
  }

  #stopTimer() {
    if (this.#timer !== null) this.#environment.clearTimer(this.#timer);
    this.#timer = null;
  }

  #failCalls() {
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    for (const call of calls) call.reject(CallError.offline());
  }

  #change(state) {
    this.#state = state;
    this.#events.changed(state);
  }
}
