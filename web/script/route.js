// Addresses of views: #/NAME/PART/…

// The view of a hash, one of `names`, and the further parts of the address. An unknown name is the first view, "".
export function readRoute(hash, names) {
  const [name, ...parts] = hash.replace(/^#\/?/, "").split("/").map(decodePart);
  return { name: names.includes(name) ? name : "", parts };
}

function decodePart(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
