// The page's copy of the daemon's state, and the commands on it.

import { asRequested, positionAt } from "./position.js";

// Key events that end a seek of this page.
const ENDS_SEEK = ["seek", "track", "stop", "snapshot", "error", "pending"];
// Commands for which the role "remote" is not enough.
const CONTROLS = ["changeConsumeMode"];
// The daemon's maximum of languages.
const MOST_LANGUAGES = 16;

export class Player {
  state = null;
  // False while the state may be out of date: no connection, or no snapshot of this connection yet.
  isCurrent = false;
  // The number of connections with a state. A subscription ends with its connection.
  connections = 0;
  role = "none";
  capabilities = {};
  commands = new Map();
  #connection;
  #clock;
  #languages;
  #listeners = new Set();
  #topics = new Map();
  #seek = null;
  #commandsKey = "";

  constructor(connection, clock, languages) {
    this.#connection = connection;
    this.#clock = clock;
    this.#languages = languages.slice(0, MOST_LANGUAGES);
  }

  // `listener(change)`: change is "state", "commands", "connection" or "position". Returns the end of listening.
  listen(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  // `listener(params)` of a notification besides the state, such as library.changed.
  onNotification(method, listener) {
    this.#topics.set(method, listener);
  }

  call(method, params) {
    return this.#connection.call(method, params);
  }

  // A new connection: introduces the page, and takes the whole state.
  async opened() {
    const clock = this.synchronize({ isFresh: true });
    const [hello, state] = await Promise.all([
      this.call("hello", { client: "page" }),
      this.call("nowPlaying.subscribe", { languages: this.#languages }),
    ]);
    this.role = hello.role ?? "read";
    this.capabilities = hello.capabilities ?? {};
    this.isCurrent = true;
    this.connections += 1;
    this.#take(state);
    await clock;
    this.#emit("position");
  }

  lost() {
    this.isCurrent = false;
    this.#seek = null;
    this.#commandsKey = "";
    this.#emit("connection");
  }

  notified(method, params) {
    if (method === "nowPlaying.changed") this.#take(params);
    else this.#topics.get(method)?.(params);
  }

  synchronize(options) {
    return this.#clock.synchronize((sent) => this.call("clock.now", { sent }), options);
  }

  // Called whenever the page is awake anyway: at most one burst a minute.
  async refreshClock() {
    if (!this.isCurrent || !(this.#clock.isDue || this.#clock.hasJumped)) return;
    await this.synchronize().catch(() => {});
    this.#emit("position");
  }

  // Seconds into the item; the target during a seek.
  position() {
    if (this.state?.item == null) return 0;
    if (this.#seek !== null) return this.#seek.position;
    return positionAt(this.state.anchor, this.state.item.duration, this.#clock.now());
  }

  // Position changes by this per second now.
  get rate() {
    return this.state === null || !this.isCurrent || this.#seek !== null ? 0 : this.state.anchor.rate;
  }

  // Seconds until an instant of the server, such as the end of a sleep timer.
  secondsUntil(monotonic) {
    return Math.max(0, monotonic - this.#clock.now());
  }

  get canControl() {
    return this.role === "control" || this.role === "admin";
  }

  // Remote commands and volumes need fewer rights than the queue.
  get canOperate() {
    return this.canControl || this.role === "remote";
  }

  // True if there is a Snapcast server: the daemon's output, or the server of the settings.
  get hasRooms() {
    return this.capabilities.rooms === true || this.state?.output?.name === "snapcast";
  }

  // A command's entry in commands.list; not enabled while there is no connection.
  command(name) {
    const known = this.commands.get(name) ?? { command: name, enabled: false };
    if (!this.isCurrent) return { ...known, enabled: false, reason: "offline" };
    if (!this.canOperate) return { ...known, enabled: false, reason: "read only" };
    return CONTROLS.includes(name) && !this.canControl ? { ...known, enabled: false, reason: "denied" } : known;
  }

  // Runs a remote command for the session that the page shows.
  run(name, params = {}) {
    return this.call(name, { ...params, session: this.state.session });
  }

  // Seeks. The position stands at the target until the daemon's event.
  async seek(position) {
    const seek = { position };
    this.#seek = seek;
    this.#emit("position");
    try {
      await this.run("changePlaybackPosition", { position, itemId: this.state.item.id });
    } finally {
      if (this.#seek === seek) {
        this.#seek = null;
        this.#emit("position");
      }
    }
  }

  #take(state) {
    const { instance, seq, session } = this.state ?? {};
    if (state.cause !== "snapshot" && state.instance === instance && state.session === session && state.seq < seq) return;
    this.state = asRequested(state);
    if ((state.causes ?? [state.cause]).some((cause) => ENDS_SEEK.includes(cause))) this.#seek = null;
    this.#emit("state");
    this.#refreshCommands();
    this.refreshClock();
  }

  // The list depends on its version, the session and the kind of the item.
  async #refreshCommands() {
    const { instance, session, commandsVersion, item } = this.state;
    const key = JSON.stringify([instance, session, commandsVersion, item?.id, item?.duration]);
    if (key === this.#commandsKey) return;
    this.#commandsKey = key;
    try {
      const { commands } = await this.call("commands.list", { session });
      if (key !== this.#commandsKey) return;
      this.commands = new Map(commands.map((one) => [one.command, one]));
      this.#emit("commands");
    } catch {
      if (key === this.#commandsKey) this.#commandsKey = "";
    }
  }

  #emit(change) {
    for (const listener of [...this.#listeners]) listener(change);
  }
}
