// A list that grows as the reader comes to its end.

import { h } from "../dom.js";

// load(after): {rows, next}; draw(rows): elements. Returns an element.
export function endless(app, className, load, draw, emptyText) {
  const list = h("div", { class: className, role: "list" });
  const end = h("div", { class: "list-end" });
  let next;
  let isBusy = false;
  let isDone = false;
  async function more() {
    if (isBusy || isDone) return;
    isBusy = true;
    const page = await app.attempt(() => load(next));
    isBusy = false;
    if (page === undefined) return;
    list.append(...draw(page.rows));
    next = page.next;
    isDone = next === undefined;
    if (isDone) observer.disconnect();
    if (isDone && list.childElementCount === 0) end.append(h("p", { class: "empty" }, emptyText));
    // The end may still be in sight.
    else if (!isDone) {
      observer.unobserve(end);
      observer.observe(end);
    }
  }
  const observer =
    new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && more(), { rootMargin: "600px" });
  observer.observe(end);
  return h("div", { class: "endless" }, list, end);
}
