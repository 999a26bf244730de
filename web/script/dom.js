// Elements without markup in strings: text from tags and names stays text.

// h("button", { class: "round", "aria-label": "Play", onclick: run }, child, …); null and false attributes are left out.
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  set(element, attributes);
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on"))
      element[name] = value;
    else if (value === null || value === undefined || value === false)
      element.removeAttribute(name);
    else {
      const text = value === true ? "" : String(value);
      if (element.getAttribute(name) !== text) element.setAttribute(name, text);
    }
  }
  return element;
}

export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function setHidden(element, isHidden) {
  if (element.hidden !== isHidden) element.hidden = isHidden;
}

const SVG = "http://www.w3.org/2000/svg";

// The folder of the page's files on the server, with their version.
export const files = new URL("..", import.meta.url).pathname;

// An icon of icons.svg, hidden from screen readers.
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("class", `icon icon-${name}`);
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `${files}icons.svg#${name}`);
  svg.append(use);
  return svg;
}

export function setIcon(element, name) {
  const svg = element.querySelector("svg.icon");
  const href = `${files}icons.svg#${name}`;
  const use = svg.firstChild;
  if (use.getAttribute("href") === href) return;
  use.setAttribute("href", href);
  svg.setAttribute("class", `icon icon-${name}`);
}

// A button with only an icon: `label` names it for screen readers.
export function iconButton(name, label, onclick, attributes = {}) {
  return h(
    "button", { type: "button", class: "icon-button", "aria-label": label, title: label, onclick, ...attributes },
    icon(name));
}
