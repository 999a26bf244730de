// A list that grows when the reader reaches its end.

import { h } from "../dom.js";

// load(after): {rows, next}; draw(rows): elements. Returns an element. A button and the next connection load a missing
// page again.
export function endless(app, className, load, draw, emptyText) {
  const list = h("div", { class: className, role: "list" });
  const end = h("div", { class: "list-end" });
  let next;
  let isBusy = false;
  let isDone = false;
  let forget = () => {};
  const again = h("button", { type: "button", class: "secondary", onclick: () => more() }, app.words("retry"));
  async function more() {
    if (isBusy || isDone) return;
    isBusy = true;
    const page = await app.attempt(() => load(next));
    isBusy = false;
    forget();
    if (page === undefined) return failed();
    end.replaceChildren();
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
  function failed() {
    end.replaceChildren(h("div", { class: "actions" }, again));
    const { connections } = app.player;
    forget = app.player.listen((change) => {
      if (change !== "state" || app.player.connections === connections) return;
      forget();
      if (end.isConnected) more();
    });
  }
  const observer =
    new IntersectionObserver((entries) => entries.some((entry) => entry.isIntersecting) && more(), { rootMargin: "600px" });
  observer.observe(end);
  return h("div", { class: "endless" }, list, end);
}
