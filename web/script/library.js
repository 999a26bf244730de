// Requests to the library, and the use of its answers.

const TRACK = ["uri", "title", "artist", "album", "albumId", "trackNumber", "discNumber", "duration"];
export const ALBUM_ORDER = ["albums"];

export class Library {
  #player;
  #albums = new Map();
  #covers = new Map();

  constructor(player) {
    this.#player = player;
  }

  search(text) {
    return this.#player.call("library.search", { text, limit: 60, fields: [...TRACK] });
  }

  // Pages of values of a tag; `after` is the `next` of the previous page.
  values(tag, { after, filter, group } = {}) {
    return this.#player.call(
      "library.values", { tag, limit: 200, ...(filter && { filter }), ...(group && { group }), ...(after && { after }) });
  }

  // Pages of tracks.
  tracks(filter, sort, after) {
    return this.#player.call("library.query", { filter, sort, fields: TRACK, limit: 200, ...(after && { after }) });
  }

  folder(path, after) {
    return this.#player.call("library.browse", { ...(path && { path }), fields: TRACK, limit: 200, ...(after && { after }) });
  }

  lists() {
    return this.#player.call("lists.list");
  }

  list(name, offset = 0) {
    return this.#player.call("lists.get", { name, fields: TRACK, offset, limit: 200 });
  }

  saveQueue(name) {
    return this.#player.call("lists.save", { name, session: this.#player.state.session });
  }

  // Adds {filter, sort}, {uris} or {list}: with {play}, {next}, or at the end.
  add(things, { play = false, next = false } = {}) {
    return this.#player.call("library.add", { ...things, ...((next || play) && { next: true }), ...(play && { play: true }) });
  }

  // The number of an album of this name; undefined if no track has it.
  async albumId(filter) {
    const key = JSON.stringify(filter);
    if (!this.#albums.has(key)) {
      const answer =
        this.#player.call("library.query", { filter, fields: ["albumId"], limit: 1 }).then(({ rows }) => rows[0]?.albumId);
      this.#albums.set(key, answer);
      // The next request gets another answer.
      answer.catch(() => this.#albums.get(key) === answer && this.#albums.delete(key));
    }
    return this.#albums.get(key);
  }

  // The picture of an album, {id, type}; null if it has none.
  cover(albumId, size) {
    if (!this.#covers.has(albumId)) {
      const answer = this.#player.call("library.artwork", { album: albumId, size }).catch((error) => {
        if (error.isOffline) this.#covers.delete(albumId);
        return null;
      });
      this.#covers.set(albumId, answer);
    }
    return this.#covers.get(albumId);
  }

  // The library has changed: pictures and numbers may differ.
  forget() {
    this.#albums.clear();
    this.#covers.clear();
  }
}

// The filter for an album by its name and artist.
export function albumFilter(album, albumArtist) {
  const parts = [{ album: { is: album } }];
  if (albumArtist) parts.push({ albumArtist: { is: albumArtist } });
  return parts.length === 1 ? parts[0] : { all: parts };
}
