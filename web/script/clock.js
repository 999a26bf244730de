// The server's CLOCK_MONOTONIC, estimated from exchanges of `clock.now`. All times are seconds.

const BURST = 8;
// Maximum drift between the clocks: 100 ppm.
const DRIFT = 1e-4;
const REFRESH = 60;
// The wall and local clocks differ by more than this only after a sleep or a clock step.
const JUMP = 0.5;

export class ServerClock {
  #local;
  #wall;
  #best = null;
  #lastBurst = -Infinity;
  #base;
  #running = null;

  // local: a clock that never steps, such as performance.now; wall: the time of day. Both in seconds.
  constructor(local, wall) {
    this.#local = local;
    this.#wall = wall;
    this.#base = wall() - local();
  }

  get isKnown() {
    return this.#best !== null;
  }

  // True during a burst.
  get isRunning() {
    return this.#running !== null;
  }

  // The server's time now; NaN before the first exchange.
  now() {
    return this.#best === null ? NaN : this.#local() + this.#best.offset;
  }

  // Maximum error of `now` in seconds.
  get bound() {
    return this.#best === null ? Infinity : this.#best.delay / 2 + (this.#local() - this.#best.at) * DRIFT;
  }

  // True a minute after the last burst.
  get isDue() {
    return this.#local() - this.#lastBurst >= REFRESH;
  }

  // True if the machine slept since the last burst: the local clock stood.
  get hasJumped() {
    return Math.abs(this.#wall() - this.#local() - this.#base) > JUMP;
  }

  // Eight exchanges, one after the other; the one with the shortest way counts. `ask(sent)` answers {received, answered}.
  // A burst after a sleep, or on another connection, forgets the estimates before it.
  synchronize(ask, { isFresh = false } = {}) {
    if (this.#running !== null && !isFresh) return this.#running;
    const run = this.#burst(ask, isFresh || this.hasJumped).finally(() => {
      if (this.#running === run) this.#running = null;
    });
    this.#running = run;
    return run;
  }

  async #burst(ask, forgets) {
    this.#lastBurst = this.#local();
    this.#base = this.#wall() - this.#local();
    let old = forgets ? null : this.#best;
    for (let count = 0; count < BURST; count += 1) {
      const sent = this.#local();
      const { received, answered } = await ask(sent);
      const back = this.#local();
      const sample = {
        offset: (received - sent + answered - back) / 2,
        delay: Math.max(0, back - sent - (answered - received)),
        at: back,
      };
      const oldBound = old === null ? Infinity : old.delay / 2 + (back - old.at) * DRIFT;
      if (sample.delay / 2 <= oldBound) old = sample;
      this.#best = old;
    }
  }
}
