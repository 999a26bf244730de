// One timer for everything on the page that moves with the position. None exists while nothing moves or the page is hidden.

export class Ticker {
  #timer = null;
  #environment;
  #wait;
  #draw;

  // environment: isVisible(), setTimer(action, seconds), clearTimer(timer). wait(): seconds to the next visible change,
  // Infinity for none. draw(): shows the present position.
  constructor(environment, wait, draw) {
    this.#environment = environment;
    this.#wait = wait;
    this.#draw = draw;
  }

  // Draws now, and again at each visible change.
  update() {
    if (this.#timer !== null) this.#environment.clearTimer(this.#timer);
    this.#timer = null;
    if (!this.#environment.isVisible()) return;
    this.#draw();
    const seconds = this.#wait();
    if (Number.isFinite(seconds)) {
      this.#timer = this.#environment.setTimer(() => {
        this.#timer = null;
        this.update();
      }, seconds);
    }
  }

  get isRunning() {
    return this.#timer !== null;
  }
}
