// The controls of the phone's lock screen (Media Session). A browser shows them only while it plays a sound itself, so a
// silent one plays in a loop. It takes the audio focus, and stops other sound of this device.

import { artworkPath, stillOf } from "./artwork.js";
import { h } from "./dom.js";

const ACTIONS = {
  play: "play",
  pause: "pause",
  stop: "stop",
  previoustrack: "previousTrack",
  nexttrack: "nextTrack",
  seekbackward: "skipBackward",
  seekforward: "skipForward"
};

export class LockScreen {
  isOn = false;
  #app;
  #silence = null;
  #end = null;

  constructor(app) {
    this.#app = app;
  }

  // Turns the controls on or off; true: they are on.
  async turn(isOn) {
    if (!isOn) {
      this.#end?.();
      this.#silence?.pause();
      this.#clear();
      this.isOn = false;
      return false;
    }
    this.#silence ??= h("audio", { src: "silence.mp3", loop: true, preload: "auto" });
    try {
      await this.#silence.play();
    } catch {
      return false;
    }
    this.isOn = true;
    this.#end = this.#app.player.listen(() => this.#update());
    this.#update();
    return true;
  }

  #clear() {
    const session = navigator.mediaSession;
    session.metadata = null;
    session.playbackState = "none";
    for (const action of [...Object.keys(ACTIONS), "seekto"]) session.setActionHandler(action, null);
  }

  #update() {
    const { player } = this.#app;
    const { item, state, anchor } = player.state;
    const session = navigator.mediaSession;
    const still = stillOf(item);
    session.metadata = item === null ? null : new MediaMetadata({
      title: item.title ?? "",
      artist: item.artist ?? "",
      album: item.albumTitle ?? "",
      artwork: still === null ? [] :
                                 [{ src: artworkPath(still.id, still.type, 600), ...(still.type && { type: still.type }) }],
    });
    const isPlaying = state === "playing";
    session.playbackState = isPlaying ? "playing" : "paused";
    if (isPlaying)
      this.#silence.play().catch(() => {});
    else
      this.#silence.pause();
    for (const [action, name] of Object.entries(ACTIONS)) {
      session.setActionHandler(action, player.command(name).enabled ? () => this.#app.attempt(() => player.run(name)) : null);
    }
    session.setActionHandler(
      "seekto",
      player.command("changePlaybackPosition").enabled ? ({ seekTime }) => this.#app.attempt(() => player.seek(seekTime)) :
                                                         null);
    const { duration } = item ?? {};
    if (!duration || item.isLiveStream) session.setPositionState();
    // A rate of 0 is invalid: a paused player has its usual rate.
    else
      session.setPositionState(
        { duration, position: Math.min(duration, player.position()), playbackRate: anchor.rate > 0 ? anchor.rate : 1 });
  }
}
