// Choices of this browser: the language, moving artwork, the lock screen.

export function preference(name) {
  try {
    return localStorage.getItem(`nowplaying.${name}`);
  } catch {
    return null;
  }
}

export function setPreference(name, value) {
  try {
    if (value === null) localStorage.removeItem(`nowplaying.${name}`);
    else localStorage.setItem(`nowplaying.${name}`, value);
  } catch {
    // A browser that keeps nothing starts with the defaults next time.
  }
}
