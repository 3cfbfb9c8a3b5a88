// What a view shows while it waits, when there is nothing, and when something went wrong.

import { hasKey, setKey } from "./api.js";
import { make, say, show } from "./dom.js";

/** A line that something is on its way. */
export function waiting(words) {
  return make("p", { class: "waiting" }, words);
}

/** That there is nothing yet, and what to do about it. */
export function nothing(title, ...more) {
  return make("div", { class: "nothing" }, make("p", { class: "display" }, title), ...more);
}

/**
 * What went wrong and what to do next; where the service wants a key, a place to give one.
 * @param {Error} error
 * @param {() => void} [again]
 */
export function failure(error, again) {
  if (error.status === 401) return askForKey(error, again);
  say(error.message);
  return make(
    "div",
    { class: "failure" },
    make("p", {}, make("strong", {}, error.message)),
    error.hint && make("p", {}, ...presentHint(error.hint)),
    again && make("button", { type: "button", onclick: again }, "Try again"),
  );
}

/** A hint of the service, in which commands stand between backticks. */
function presentHint(hint) {
  return hint.split("`").map((part, place) => (place % 2 ? make("code", {}, part) : part));
}

/**
 * Fills a place with what a promise gives; until then it waits, and after an error it can try again.
 * Where the keyboard stood in it, it stands there again, or at the beginning.
 * @param {HTMLElement} place
 * @param {string} words
 * @param {() => Promise<Node[]>} load
 */
export async function fillWith(place, words, load) {
  const held = place.contains(document.activeElement) ? document.activeElement : null;
  show(place, waiting(words));
  place.setAttribute("aria-busy", "true");
  try {
    show(place, ...(await load()));
    if (held) focusAgain(place, held.dataset.focus);
  } catch (error) {
    if (error.name === "AbortError") return; // the reader has gone elsewhere
    show(
      place,
      failure(error, () => fillWith(place, words, load)),
    );
  }
  place.removeAttribute("aria-busy");
}

/** Sets the keyboard where it stood: at what has the same name, or else at the place itself. */
function focusAgain(place, name) {
  if (document.activeElement !== document.body) return; // it has gone elsewhere meanwhile
  const named = [...place.querySelectorAll("[data-focus]")];
  const found = named.find((one) => one.dataset.focus === name);
  found?.closest("details")?.setAttribute("open", "");
  if (!found) place.setAttribute("tabindex", "-1");
  (found ?? place).focus();
}

function askForKey(error, again) {
  const field = make("input", {
    id: "given-key",
    type: "password",
    autocomplete: "off",
    required: true,
  });
  const keep = (event) => {
    event.preventDefault();
    setKey(field.value.trim());
    document.dispatchEvent(new Event("key"));
    again?.();
  };
  return make(
    "form",
    { class: "failure", onsubmit: keep },
    make("p", {}, make("strong", {}, hasKey() ? error.message : "This library asks who you are.")),
    make("p", {}, "Give the key that its keeper made for you. It is kept until the tab is closed."),
    make("label", { for: "given-key" }, "Key"),
    make("div", { class: "row" }, field, make("button", { class: "main" }, "Go on")),
  );
}
