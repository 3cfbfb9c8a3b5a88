// A cited document, opened beside its answer with the exact characters marked.

import { call } from "./api.js";
import { make } from "./dom.js";
import { presentPage } from "./pages.js";
import { mark, presentBody } from "./reading.js";
import { fillWith } from "./states.js";
import { locate, measure, tellPlace } from "./text.js";
import { presentVerdict } from "./verdicts.js";

/**
 * Opens what a citation cites.
 * @param {object} citation one of the answer's, with a document
 * @param {{text: string, version: number}} answer
 */
export function openSource(citation, answer) {
  const body = make("div", { class: "source-body" });
  const sheet = make(
    "dialog",
    { class: "sheet", "aria-labelledby": "sheet-title", onclose: () => sheet.remove() },
    make(
      "header",
      {},
      make("h2", { id: "sheet-title" }, citation.title ?? citation.document_id),
      make("button", { type: "button", class: "quiet", onclick: () => sheet.close() }, "Close"),
    ),
    presentClaim(citation, answer),
    body,
  );
  sheet.addEventListener("click", (event) => event.target === sheet && sheet.close());
  document.body.append(sheet);
  sheet.showModal();
  fillWith(body, "Opening the source …", () => load(citation, answer));
}

function presentClaim(citation, answer) {
  const unit = measure(answer.text);
  const claim = answer.text.slice(unit(citation.claim.start), unit(citation.claim.end));
  return make(
    "div",
    { class: "checked" },
    make("p", { class: "place" }, tellPlace(citation)),
    make("p", { dir: "auto" }, make("span", { class: "says" }, "The answer says "), claim),
    make("p", {}, presentVerdict(citation.verdict), citation.reason && ` ${citation.reason}`),
  );
}

async function load(citation, answer) {
  const found = await call("documents", { query: { id: citation.document_id } });
  const { place, note } = findQuote(found.text, citation, answer);
  const reading = presentBody(found, 2);
  const pictured = !note && found.media_type === "application/pdf";
  if (place) requestAnimationFrame(() => mark(reading, place, pictured));
  const address = `#/document?${new URLSearchParams({ id: found.id })}`;
  return [
    note && make("p", { class: "note" }, note),
    note && make("blockquote", { class: "words", dir: "auto" }, citation.quote),
    pictured && presentPage(found, citation),
    reading.element,
    make(
      "p",
      { class: "after" },
      make("a", { href: address }, "The whole document with its details"),
    ),
  ].filter(Boolean);
}

/** Where the quote stands today, in UTF-16 units; when that is not where it stood, a note too. */
function findQuote(text, { start, end, quote }, { version }) {
  const unit = measure(text);
  const place = { start: unit(start), end: unit(end) };
  if (text.slice(place.start, place.end) === quote) return { place };
  const moved = locate(text, quote);
  const changed = `The document has changed since version ${version}:`;
  if (moved) return { place: moved, note: `${changed} these words have moved.` };
  return { place: null, note: `${changed} it no longer holds these words.` };
}
