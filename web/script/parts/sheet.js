// A sheet over the page: a modal dialog that ends with Escape, its button, or a click beside it.

import { h, iconButton } from "../dom.js";

let number = 0;

// Opens it; `content` is an element or several. Returns {element, close}.
export function openSheet(app, title, ...content) {
  const heading = h("h2", { id: `sheet-${(number += 1)}` }, title);
  const close = () => element.close();
  const element = h("dialog", { class: "sheet", "aria-labelledby": heading.id },
    h("header", {}, heading, iconButton("close", app.words("close"), close)),
    h("div", { class: "sheet-body" }, ...content));
  element.onclose = () => element.remove();
  // A handler that returns false would take their clicks from boxes and labels.
  element.onclick = (event) => {
    if (event.target === element) close();
  };
  document.body.append(element);
  element.showModal();
  return { element, close };
}

// A sheet of choices; each is {label, detail, isChosen, run}. It closes when one was chosen.
export function openChoices(app, title, choices, note = null) {
  const buttons = choices.map(({ label, detail, isChosen, isDisabled, run }) =>
    h("button", {
      type: "button", class: "choice", "aria-pressed": isChosen === undefined ? null : String(isChosen), disabled: isDisabled,
      onclick: () => {
        sheet.close();
        app.attempt(run);
      },
    }, h("span", { class: "choice-label" }, label), detail ? h("span", { class: "choice-detail" }, detail) : null));
  const sheet = openSheet(app, title, ...buttons, note ? h("p", { class: "note" }, note) : null);
  return sheet;
}
