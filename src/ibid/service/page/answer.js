// An answer on the page: its claims with their verdicts, the notes under them, what it stands on.

import { make } from "./dom.js";
import { openSource } from "./source.js";
import { measure, tellPlace } from "./text.js";
import { showReasons } from "./trace.js";
import { gatherClaims, presentVerdict, STATUSES, tellVerdicts, VERDICTS } from "./verdicts.js";

const MARKERS = /^(?:\s*\[\d+\])+/;

/**
 * An answer with its proof, in the shape of the service.
 * @param {object} answer
 * @returns {Node[]}
 */
export function presentAnswer(answer) {
  const claims = gatherClaims(answer.citations);
  return [
    make("p", { class: `status ${answer.status}` }, tellStatus(answer, claims)),
    ...answer.warnings.map((warning) => make("p", { class: "note" }, warning)),
    make(
      "div",
      { class: "folio" },
      make("div", { class: "prose", dir: "auto" }, ...presentText(answer, claims)),
      claims.length > 0 && presentNotes(answer, claims),
    ),
    ...presentNearest(answer),
    answer.sources.length > 0 && showReasons(answer),
  ].filter(Boolean);
}

/** The status of an answer and the verdicts of its claims in one line. */
export function tellStatus(answer, claims = gatherClaims(answer.citations)) {
  const verdicts = tellVerdicts(claims);
  return verdicts ? `${STATUSES[answer.status]}: ${verdicts}` : STATUSES[answer.status];
}

function presentText(answer, claims) {
  const unit = measure(answer.text);
  const cut = (start, end) => answer.text.slice(unit(start), unit(end));
  const parts = [];
  let at = 0;
  for (const [place, claim] of claims.entries()) {
    if (claim.start < at) continue; // a claim inside one that is shown
    parts.push(cut(at, claim.start));
    const words = make(
      "span",
      { class: "claim", "data-verdict": claim.verdict },
      cut(claim.start, claim.end),
    );
    const rest = cut(claim.end, claims[place + 1]?.start ?? Infinity);
    const markers = rest.match(MARKERS)?.[0] ?? "";
    parts.push(words, ...presentMarkers(answer, claim, markers));
    if (claim.verdict !== "supported") parts.push(" ", presentVerdict(claim.verdict));
    at = claim.end + markers.length; // markers are ASCII: points and units are the same
  }
  return [...parts, cut(at, Infinity)];
}

function presentMarkers(answer, claim, markers) {
  const numbers = [...markers.matchAll(/\d+/g)].map(Number);
  return numbers.map((number) => {
    const citation = claim.citations.find((one) => one.marker === number);
    return citation?.document_id ? presentMarker(answer, citation) : make("sup", {}, `[${number}]`);
  });
}

function presentMarker(answer, citation) {
  const title = citation.title ?? citation.document_id;
  const label = `Source ${citation.marker}, ${title}, ${VERDICTS[citation.verdict].words}`;
  const attributes = {
    type: "button",
    class: "marker",
    "aria-label": label,
    "data-verdict": citation.verdict,
    onclick: () => openSource(citation, answer),
  };
  return make("button", attributes, String(citation.marker));
}

function presentNotes(answer, claims) {
  const citations = claims.flatMap((claim) => claim.citations);
  return make(
    "div",
    { class: "notes" },
    make(
      "ol",
      { "aria-label": "Citations" },
      ...citations.map((citation) => make("li", {}, ...presentNote(answer, citation))),
    ),
  );
}

function presentNote(answer, citation) {
  const unit = measure(answer.text);
  const claim = answer.text.slice(unit(citation.claim.start), unit(citation.claim.end));
  const shown = citation.quote ?? claim;
  const open = () => openSource(citation, answer);
  return [
    make(
      "p",
      { class: "from" },
      citation.marker !== null && make("span", { class: "number" }, String(citation.marker)),
      presentVerdict(citation.verdict),
    ),
    make(citation.quote ? "blockquote" : "p", { class: "words", dir: "auto" }, shown),
    citation.reason && make("p", { class: "reason" }, tellReason(citation)),
    citation.document_id &&
      make("button", { type: "button", class: "link", onclick: open }, tellPlace(citation)),
  ].filter(Boolean);
}

function tellReason({ verdict, reason }) {
  return verdict === "supported-elsewhere" ? `Held by ${reason}` : `Differs: ${reason}`;
}

function presentNearest(answer) {
  if (!answer.nearest?.length) return [];
  const links = answer.nearest.map(({ document_id, title }) => {
    const address = `#/document?${new URLSearchParams({ id: document_id })}`;
    return make("li", {}, make("a", { href: address }, title ?? document_id));
  });
  return [
    make("p", { class: "lead" }, "Perhaps worth reading:"),
    make("ul", { class: "nearest" }, ...links),
  ];
}
