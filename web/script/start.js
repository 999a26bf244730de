// Loads the page after its first paint, which two dozen requests would delay.

const STYLES = ["base.css", "playing.css", "lists.css"];
// Modules of the first view. Each is named here: none waits for those that import it.
const MODULES = [
  "main.js", "artwork.js", "clock.js", "colours.js", "connection.js", "dom.js", "format.js", "latest.js", "player.js",
  "position.js", "preferences.js", "route.js", "rpc.js", "ticker.js", "words.js", "parts/mini.js", "parts/picture.js",
  "parts/scrubber.js", "parts/transport.js", "parts/volume.js", "views/playing.js"
];
// Milliseconds after which the page is loaded, painted or not: a window may be covered.
const LONGEST_WAIT = 200;

// Begins to load a file; the promise resolves when it is there or has failed.
function load(rel, path) {
  const link = document.createElement("link");
  link.rel = rel;
  link.href = new URL(path, import.meta.url).href;
  return new Promise((done) => {
    link.onload = link.onerror = done;
    document.head.append(link);
  });
}

function painted() {
  if (document.visibilityState !== "visible") return Promise.resolve();
  return new Promise((done) => {
    requestAnimationFrame(() => setTimeout(done));
    setTimeout(done, LONGEST_WAIT);
  });
}

await painted();
const styles = STYLES.map((name) => load("stylesheet", `../style/${name}`));
for (const name of MODULES) load("modulepreload", name);
await Promise.all(styles);
await import("./main.js");
