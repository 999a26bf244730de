// A list of any length: only the rows in sight exist. It scrolls with the window.

import { h } from "../dom.js";
import { RowWindow } from "../window.js";

export class VirtualList {
  element;
  #rows = new Map();
  #window = new RowWindow();
  #count = 0;
  #makeRow;
  #fillRow;
  #wanted;
  #probe;

  // makeRow(): an element; fillRow(row, index): shows an item in it; wanted(first, last): these indexes are in sight.
  constructor({ makeRow, fillRow, wanted, label }) {
    this.#makeRow = makeRow;
    this.#fillRow = fillRow;
    this.#wanted = wanted;
    this.element = h("div", { class: "virtual", role: "list", "aria-label": label });
    // Its height is that of every row, for any text size of the reader.
    this.#probe = h("div", { class: "virtual-row", "aria-hidden": "true" });
    this.#probe.style.visibility = "hidden";
    this.onscroll = () => this.#scrolled();
  }

  get rowHeight() {
    return this.#probe.offsetHeight || 64;
  }

  show() {
    addEventListener("scroll", this.onscroll, { passive: true });
    addEventListener("resize", this.onscroll, { passive: true });
    this.draw();
  }

  hide() {
    removeEventListener("scroll", this.onscroll);
    removeEventListener("resize", this.onscroll);
  }

  set count(count) {
    this.#count = count;
    this.draw();
  }

  get #top() {
    return Math.max(0, -this.element.getBoundingClientRect().top);
  }

  // Index of the row at a vertical place in the window.
  indexAt(clientY) {
    return this.#window.indexAt(clientY - this.element.getBoundingClientRect().top);
  }

  // Pixels from the beginning of the list to a row.
  topOf(index) {
    return this.#window.topOf(index);
  }

  reveal(index) {
    this.#layout();
    const start = this.element.getBoundingClientRect().top + scrollY;
    // A row is easier to find a little below the edge.
    scrollTo(0, start + this.#window.reveal(Math.max(0, index - 2)));
    this.draw();
  }

  row(index) {
    return this.#rows.get(index) ?? null;
  }

  #layout() {
    if (!this.#probe.isConnected) this.element.append(this.#probe);
    this.#window.layout(this.#count, this.rowHeight, innerHeight);
    this.element.style.height = `${this.#window.height}px`;
  }

  #scrolled() {
    const before = this.#top;
    const after = this.#window.scroll(before);
    if (after !== before) scrollBy(0, after - before);
    this.draw();
  }

  // Shows the rows in sight, all of them anew.
  draw() {
    this.#layout();
    if (this.#count === 0) {
      for (const row of this.#rows.values()) row.remove();
      this.#rows.clear();
      return;
    }
    const { first, last } = this.#window.range(this.#top);
    const spare = [];
    for (const [index, row] of this.#rows) {
      if (index >= first && index <= last) continue;
      this.#rows.delete(index);
      // A row that has the focus keeps it: it leaves when the focus does.
      if (row.contains(document.activeElement)) row.remove();
      else spare.push(row);
    }
    for (let index = first; index <= last; index += 1) {
      let row = this.#rows.get(index);
      if (row === undefined) {
        row = spare.pop() ?? this.#makeRow();
        row.classList.add("virtual-row");
        row.setAttribute("role", "listitem");
        this.#rows.set(index, row);
        if (!row.isConnected) this.element.append(row);
      }
      row.style.transform = `translateY(${this.#window.topOf(index)}px)`;
      row.setAttribute("aria-posinset", index + 1);
      row.setAttribute("aria-setsize", this.#count);
      this.#fillRow(row, index);
    }
    for (const row of spare) row.remove();
    this.#wanted(first, last);
  }
}
