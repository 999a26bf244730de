// The rows that a scrolled list shows. Browsers limit the height of an element to some million pixels; a longer list is
// laid out in pages that overlap: small movements are exact, large ones jump to the right page.

const TALLEST = 6_000_000;

export class RowWindow {
  #count = 0;
  #rowHeight = 1;
  #viewport = 0;
  #page = 0;
  #last = 0;

  // Pixels of a row and of the visible part.
  layout(count, rowHeight, viewport) {
    this.#count = count;
    this.#rowHeight = rowHeight;
    this.#viewport = viewport;
    this.#page = Math.min(this.#page, Math.max(0, this.#pages - 1));
  }

  // Pixels of the element that scrolls.
  get height() {
    return Math.min(this.#count * this.#rowHeight, TALLEST);
  }

  get #whole() {
    return this.#count * this.#rowHeight;
  }

  get #pageHeight() {
    return this.height / 100;
  }

  get #pages() {
    return this.height === 0 ? 1 : Math.ceil(this.#whole / this.#pageHeight);
  }

  // Pixels by which each page lies higher than the page before it would end.
  get #jump() {
    return this.#pages > 1 ? (this.#whole - this.height) / (this.#pages - 1) : 0;
  }

  get #offset() {
    return Math.round(this.#page * this.#jump);
  }

  // A scroll to `top`. Returns another `top` if the list moved to another page, else the same.
  scroll(top) {
    const moved = Math.abs(top - this.#last);
    if (this.#whole > TALLEST) {
      if (moved < this.#viewport) {
        const page = Math.max(0, Math.min(this.#pages - 1, Math.floor((top + this.#offset) / this.#pageHeight)));
        const before = this.#offset;
        this.#page = page;
        top = Math.max(0, Math.min(this.height - this.#viewport, top + before - this.#offset));
      } else {
        const share = top / Math.max(1, this.height - this.#viewport);
        this.#page = Math.min(this.#pages - 1, Math.floor((share * (this.#whole - this.#viewport)) / this.#pageHeight));
      }
    }
    this.#last = top;
    return top;
  }

  // First and last index in sight, with `spare` rows before and after.
  range(top, spare = 4) {
    const first = Math.floor((top + this.#offset) / this.#rowHeight);
    const last = Math.ceil((top + this.#offset + this.#viewport) / this.#rowHeight);
    return { first: Math.max(0, first - spare), last: Math.min(this.#count - 1, last + spare) };
  }

  // Pixels from the beginning of the element to a row in sight.
  topOf(index) {
    return index * this.#rowHeight - this.#offset;
  }

  // The scroll position that shows a row at the beginning.
  reveal(index) {
    const wanted = Math.max(0, Math.min(index * this.#rowHeight, this.#whole - this.#viewport));
    this.#page = this.#whole > TALLEST ? Math.min(this.#pages - 1, Math.floor(wanted / this.#pageHeight)) : 0;
    this.#last = Math.max(0, wanted - this.#offset);
    return this.#last;
  }

  // The index of the row at a pixel of the element.
  indexAt(pixel) {
    return Math.max(0, Math.min(this.#count - 1, Math.floor((pixel + this.#offset) / this.#rowHeight)));
  }
}
