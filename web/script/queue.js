// The page's view of the queue: pages of items, fetched when they are in sight.

const PAGE = 100;
const FIELDS = ["id", "uri", "title", "artist", "albumTitle", "duration", "artwork"];

export class Queue {
  count = 0;
  #player;
  #changed;
  #pages = new Map();
  #key = "";
  #revision = null;

  // changed(): called when items have changed.
  constructor(player, changed) {
    this.#player = player;
    this.#changed = changed;
  }

  // Follows a new state: drops changed items. Old items stay in sight until the new ones are here.
  update() {
    const { session, instance, queue } = this.#player.state;
    const key = `${instance} ${session}`;
    if (key === this.#key && queue.revision === this.#revision) return;
    if (key !== this.#key) this.#pages.clear();
    this.#key = key;
    this.#revision = queue.revision;
    this.count = queue.count;
    for (const page of this.#pages.values()) page.isOld = true;
    this.#changed();
  }

  // The item at an index; undefined while it is on its way.
  item(index) {
    return this.#pages.get(Math.floor(index / PAGE))?.items[index % PAGE];
  }

  // The present index of an item; null if it is not loaded.
  indexOf({ id }) {
    for (const [number, { items }] of this.#pages) {
      const index = items.findIndex((one) => one.id === id);
      if (index >= 0) return number * PAGE + index;
    }
    return null;
  }

  // Fetches missing items from one index to another, which are in sight.
  want(first, last) {
    for (let page = Math.floor(first / PAGE); page <= Math.floor(last / PAGE); page += 1) {
      const known = this.#pages.get(page);
      if (known === undefined || (known.isOld && !known.isFetching)) this.#fetch(page);
    }
    // Distant pages are dropped: a million items are too many.
    for (const page of this.#pages.keys()) {
      if (page < first / PAGE - 20 || page > last / PAGE + 20) this.#pages.delete(page);
    }
  }

  async #fetch(number) {
    const page = this.#pages.get(number) ?? { items: [] };
    Object.assign(page, { isOld: false, isFetching: true });
    this.#pages.set(number, page);
    try {
      const answer = await this.#player.call(
        "queue.list", { offset: number * PAGE, limit: PAGE, fields: FIELDS, session: this.#player.state.session });
      page.items = answer.items;
      // A page ends at 192 KiB; the rest of it comes with the next request.
      if (answer.next !== undefined && answer.next < (number + 1) * PAGE) {
        const rest = await this.#player.call("queue.list", {
          offset: answer.next,
          limit: (number + 1) * PAGE - answer.next,
          fields: FIELDS,
          session: this.#player.state.session
        });
        page.items = [...answer.items, ...rest.items];
      }
    } catch {
      // The next state, or the next look at these items, repeats the request: a redraw would repeat it forever.
      Object.assign(page, { isOld: true, isFetching: false });
      return;
    }
    page.isFetching = false;
    this.#changed();
  }

  #call(method, params) {
    return this.#player.call(method, { ...params, session: this.#player.state.session });
  }

  play(item) {
    return this.#player.call("play", { itemId: item.id, session: this.#player.state.session });
  }

  // Moves an item; `to` is its index afterwards.
  move(item, to) {
    return this.#call("queue.move", { ids: [item.id], to });
  }

  remove(item) {
    return this.#call("queue.remove", { ids: [item.id] });
  }

  clear() {
    return this.#call("queue.clear", {});
  }

  shuffle() {
    return this.#call("queue.shuffle", {});
  }

  // Restores a removed item, with its known fields.
  restore({ uri, title, artist, albumTitle, duration }, index) {
    const item = Object.fromEntries(
      Object.entries({ uri, title, artist, albumTitle, duration }).filter(([, value]) => value !== undefined));
    return this.#player.call("queue.add", { items: [item], at: index, session: this.#player.state.session });
  }
}
