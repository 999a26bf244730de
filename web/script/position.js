// The audible position, computed from the anchor of a state. All times are seconds.

// The position at the server's time `now`. Before the first clock exchange, it is the anchor's.
export function positionAt(anchor, duration, now) {
  const past = Number.isFinite(now) ? Math.max(0, now - anchor.monotonic) : 0;
  const position = anchor.elapsed + anchor.rate * (1 + (anchor.skew ?? 0)) * past;
  return Math.max(0, duration === undefined ? position : Math.min(position, duration));
}

// The state after its pending change. If that changes the item, the audible item and its position stay.
export function asRequested(state) {
  const { pending, anchor, item } = state;
  if (!pending) return state;
  if (pending.itemId !== item?.id) return { ...state, state: pending.state };
  const rate = pending.state === "playing" ? anchor.defaultRate ?? 1 : 0;
  const { position: elapsed, monotonic, wall } = pending;
  return { ...state, state: pending.state, anchor: { ...anchor, elapsed, rate, monotonic, wall } };
}

// True if the position moves.
export function isMoving(state) {
  return state !== null && state.item !== null && state.anchor.rate !== 0;
}

// Whole seconds for the two labels. Both change at the same instant.
export function labels(position, duration) {
  const elapsed = Math.floor(position + 1e-6);
  return { elapsed, remaining: duration === undefined ? null : Math.max(0, Math.round(duration) - elapsed) };
}

// Seconds until the labels or the bar (of `width` pixels) change; Infinity if nothing will change.
export function nextChange(position, duration, rate, width) {
  const speed = Math.abs(rate);
  if (speed === 0 || (duration !== undefined && rate > 0 && position >= duration)) return Infinity;
  const steps = [1];
  if (duration !== undefined && width > 0) steps.push(duration / width);
  const waits = steps.map((step) => {
    const inside = position / step - Math.floor(position / step + 1e-6);
    return ((rate > 0 ? 1 - inside : inside || 1) * step) / speed;
  });
  // A timer may fire a little early: a millisecond later the change is certain.
  return Math.min(...waits) + 0.001;
}

// The index of the chapter at a position; -1 before the first.
export function chapterAt(chapters, position) {
  let found = -1;
  for (const [index, chapter] of chapters.entries()) if (chapter.start <= position + 1e-3) found = index;
  return found;
}
