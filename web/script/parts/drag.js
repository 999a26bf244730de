// Dragging a row of a virtual list to another place, by a handle. Keys do the same: see the row's menu.

import { h } from "../dom.js";

const EDGE = 80;
const SPEED = 12;

// list: a VirtualList; indexOf(item): its index now, null if it is not known; moved(item, from, to): the item is to lie at
// index `to`. Returns begin(event, item, index) for pointerdown of a handle, and isClick(): false for the click that ends a
// movement. The list may change during it: the item under the pointer at the start moves.
export function makeDraggable(list, indexOf, moved) {
  const marker = h("div", { class: "drop-marker", "aria-hidden": "true", hidden: true });
  let drag = null;
  let wasMoved = false;

  function gap(clientY) {
    const index = list.indexAt(clientY);
    const middle = list.element.getBoundingClientRect().top + list.topOf(index) + list.rowHeight / 2;
    return clientY > middle ? index + 1 : index;
  }

  function follow() {
    drag.from = indexOf(drag.item) ?? drag.from;
  }

  function show() {
    follow();
    drag.gap = gap(drag.y);
    marker.hidden = false;
    marker.style.transform = `translateY(${list.topOf(drag.gap)}px)`;
    const own = list.row(drag.from);
    for (const row of list.element.querySelectorAll(".is-dragged")) row.classList.toggle("is-dragged", row === own);
    own?.classList.add("is-dragged");
  }

  // Near an edge of the window the list scrolls, while the pointer stays there.
  function scroll() {
    if (drag === null) return;
    const [above, below] = [EDGE - drag.y, drag.y - (innerHeight - EDGE)];
    const amount = above > 0 ? -above : below > 0 ? below : 0;
    if (amount !== 0) {
      scrollBy(0, (amount / EDGE) * SPEED);
      show();
      drag.frame = requestAnimationFrame(scroll);
    } else drag.frame = null;
  }

  function end(event, isDone) {
    if (drag === null) return;
    follow();
    const { item, from, gap: to, frame, handle } = drag;
    if (frame !== null) cancelAnimationFrame(frame);
    handle.onpointermove = handle.onpointerup = handle.onpointercancel = null;
    drag = null;
    marker.hidden = true;
    for (const row of list.element.querySelectorAll(".is-dragged")) row.classList.remove("is-dragged");
    // The row leaves its index before it is at the new one.
    const index = to > from ? to - 1 : to;
    if (isDone && to !== null && index !== from) moved(item, from, index);
  }

  // The browser also makes a click of the end.
  const isClick = () => !wasMoved;

  function begin(event, item, index) {
    wasMoved = false;
    if (event.button !== 0 || item === undefined) return;
    event.preventDefault();
    if (!marker.isConnected) list.element.append(marker);
    const handle = event.currentTarget;
    handle.setPointerCapture(event.pointerId);
    drag = { item, from: index, gap: null, y: event.clientY, frame: null, handle };
    handle.onpointermove = (move) => {
      drag.y = move.clientY;
      wasMoved = true;
      show();
      if (drag.frame === null) drag.frame = requestAnimationFrame(scroll);
    };
    handle.onpointerup = (up) => end(up, true);
    handle.onpointercancel = (cancel) => end(cancel, false);
  }

  return { begin, isClick };
}
