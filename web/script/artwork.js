// Choice of pictures, and their addresses, which are relative to the page.

const ENDINGS = {
  "image/jpeg": "jpg", "image/png": "png", "image/webp": "webp", "image/avif": "avif", "image/gif": "gif",
  "video/mp4": "mp4", "video/webm": "webm", "video/quicktime": "mov",
};

// The path of a picture or a film; `size`: pixels of the square that a picture covers.
export function artworkPath(id, type, size) {
  const path = `artwork/${encodeURIComponent(id)}.${ENDINGS[type] ?? "jpg"}`;
  return size === undefined ? path : `${path}?size=${size}`;
}

// The path of the still picture that comes before a film.
export function previewPath(id) {
  return `artwork/${encodeURIComponent(id)}.jpg?kind=preview`;
}

// The still picture of an item, or null.
export function stillOf(item) {
  return item?.artwork?.find((picture) => picture.kind === "image") ?? null;
}

// The film of an item: a tall one for a tall place, or null.
export function filmOf(item, isTall) {
  const films = item?.artwork?.filter((picture) => picture.kind === "animated") ?? [];
  const ofShape = (shape) => films.find((film) => film.aspect === shape);
  return (isTall ? ofShape("3:4") ?? ofShape("1:1") : ofShape("1:1") ?? ofShape("3:4")) ?? films[0] ?? null;
}

// Films are not fetched if the reader wants less motion or data.
export function allowsMotion(windowObject = window) {
  return !windowObject.matchMedia("(prefers-reduced-motion: reduce)").matches &&
    !windowObject.matchMedia("(prefers-reduced-data: reduce)").matches &&
    windowObject.navigator.connection?.saveData !== true;
}
