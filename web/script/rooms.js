// The page's copy of the rooms of a Snapcast server. The server sends changes only while they are followed.

export class Rooms {
  list = [];
  // Why the rooms cannot be had: "unreachable", "noAnswer", "strange", or "disabled" without a server; null if they can.
  problem = null;
  // False until the first answer.
  isKnown = false;
  #player;
  #changed;
  #isFollowed = false;
  // The connection that has the subscription: see Player.connections.
  #connection = 0;

  // `changed()`: called after each change.
  constructor(player, changed) {
    this.#player = player;
    this.#changed = changed;
    player.onNotification("rooms.changed", (rooms) => this.#isFollowed && this.#merge(rooms));
  }

  // Subscribes, once on each connection. Fails with a CallError.
  async follow() {
    const player = this.#player;
    if (!player.isCurrent || this.#isFollowed && this.#connection === player.connections) return;
    this.#isFollowed = true;
    const connection = (this.#connection = player.connections);
    try {
      const rooms = await player.call("rooms.subscribe");
      // The notification of a later change may have arrived before.
      if (this.#isFollowed && this.#connection === connection) this.#take(rooms);
    } catch (error) {
      if (this.#connection === connection) this.#connection = 0;
      if (error.reason !== "disabled") throw error;
      if (this.#isFollowed) this.#take({ available: false, problem: error.reason });
    }
  }

  unfollow() {
    if (!this.#isFollowed) return;
    this.#isFollowed = false;
    if (this.#player.isCurrent && this.#connection === this.#player.connections) {
      this.#player.call("rooms.unsubscribe").catch(() => {});
    }
    this.#connection = 0;
  }

  // Rooms that play the same as this one, without it.
  companions({ id, group }) {
    return this.list.filter((other) => other.id !== id && other.group.id === group.id);
  }

  setVolume(id, params) {
    return this.#player.call("rooms.volume.set", { id, ...params });
  }

  configure(id, params) {
    return this.#player.call("rooms.configure", { id, ...params });
  }

  // Fails while the room is connected.
  remove(id) {
    return this.#player.call("rooms.remove", { id });
  }

  // All rooms, as an answer has them.
  #take({ available, problem, rooms }) {
    this.isKnown = true;
    this.problem = available ? null : problem ?? "unreachable";
    this.list = rooms ?? [];
    this.#changed();
  }

  // The rooms that have changed; rooms of one group stay side by side.
  #merge(news) {
    if (news.whole || !news.available || !this.isKnown || this.problem !== null) return this.#take(news);
    const gone = new Set(news.removed ?? []);
    const rooms = new Map(this.list.filter(({ id }) => !gone.has(id)).map((room) => [room.id, room]));
    for (const room of news.rooms) rooms.set(room.id, room);
    const groups = new Map();
    for (const room of rooms.values()) groups.set(room.group.id, [...(groups.get(room.group.id) ?? []), room]);
    this.#take({ available: true, rooms: [...groups.values()].flat() });
  }
}
