// A cover of an album, fetched when it comes into sight.

import { artworkPath } from "../artwork.js";
import { h, icon } from "../dom.js";

let observer = null;
const waiting = new WeakMap();

function watch(element, load) {
  observer ??= new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      if (!isIntersecting) continue;
      observer.unobserve(target);
      waiting.get(target)?.();
    }
  }, { rootMargin: "300px" });
  waiting.set(element, load);
  observer.observe(element);
}

// find(): a promise of the number of an album.
export function makeCover(library, find, size = 300) {
  const element = h("span", { class: "cover" }, icon("album"));
  watch(element, async () => {
    try {
      const albumId = await find();
      const picture = albumId === undefined ? null : await library.cover(albumId, size);
      if (picture?.id === undefined) return;
      const image = h("img", { alt: "", decoding: "async" });
      image.onload = () => element.append(image);
      image.src = artworkPath(picture.id, picture.type, size);
    } catch {
      // The note stays in its place.
    }
  });
  return element;
}
