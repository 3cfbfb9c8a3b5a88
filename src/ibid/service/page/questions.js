// The questions of an evaluation, the worst first: what was wanted, what was found, what lost it.

import { call } from "./api.js";
import { make, show } from "./dom.js";
import { tellLost } from "./figures.js";
import { makeWalk } from "./stages.js";
import { failure } from "./states.js";
import { count, tellPlace } from "./text.js";
import { STATUSES } from "./verdicts.js";

const MOST = 50; // questions that are fetched at once
const EXCERPT = 320; // characters of a passage that are shown

/**
 * The questions of an evaluation as a list that grows.
 * @param {string} id of the job
 * @param {number} deepest rank that was measured at
 */
export async function listQuestions(id, deepest) {
  const list = make("ol", { class: "questions" });
  const told = make("div");
  const more = make("button", { type: "button" }, "Show more");
  const load = async () => {
    const query = { most: MOST, offset: list.childElementCount };
    const { questions, total } = await call(`evaluate/${encodeURIComponent(id)}`, { query });
    list.append(...questions.map((one) => presentQuestion(one, deepest)));
    more.hidden = list.childElementCount >= total || questions.length === 0;
  };
  more.addEventListener("click", () => load().catch((error) => show(told, failure(error))));
  await load();
  return [list, told, more];
}

function presentQuestion(one, deepest) {
  const wrong = one.failures.length > 0;
  const mark = make(
    "span",
    { class: `mark ${wrong ? "wrong" : "right"}` },
    make("span", { "aria-hidden": "true" }, wrong ? "✗" : "✓"),
    make("span", { class: "unseen" }, wrong ? "wrong: " : "right: "),
  );
  const summary = make(
    "summary",
    {},
    mark,
    make("span", { class: "asked", dir: "auto" }, one.question),
    make("span", { class: "scores" }, tellScores(one, deepest)),
  );
  const place = make("div", { class: "case" });
  const fold = make("details", {}, summary, place);
  fold.addEventListener("toggle", () => {
    if (fold.open && !place.hasChildNodes()) show(place, ...presentCase(one));
  });
  return make("li", {}, fold);
}

function tellScores({ scores, status, cause }, deepest) {
  const recall = scores[`recall@${deepest}`];
  return [
    cause && tellLost(cause.stage),
    recall !== undefined && `recall ${recall.toFixed(2)}`,
    status,
  ]
    .filter(Boolean)
    .join(" · ");
}

function presentCase(one) {
  return [
    ...one.failures.map(({ detail }) => make("p", { class: "grave" }, detail)),
    one.cause && presentCause(one.cause),
    presentWanted(one.expected),
    presentHits(one.hits),
    ...presentReply(one),
    makeWays(one),
  ];
}

function presentCause({ stage, advice }) {
  return make(
    "p",
    { class: "note" },
    make("strong", {}, `It was ${tellLost(stage)}. `),
    advice && `What would change it: ${advice}.`,
  );
}

function presentWanted({ contains, document_id, unanswerable, answer }) {
  if (unanswerable) return make("p", { class: "lead" }, "Wanted: that there is no answer.");
  const words = contains.map((piece) => make("q", { class: "words", dir: "auto" }, piece));
  const ids = contains.length ? [] : document_id.map((id) => make("span", { class: "id" }, id));
  return make(
    "p",
    { class: "wanted" },
    make("span", { class: "says" }, "Wanted: "),
    ...[...words, ...ids].flatMap((part) => [part, " "]),
    answer.length > 0 && make("span", { class: "says" }, "Answer: "),
    answer.length > 0 && make("span", { dir: "auto" }, answer.join(" or ")),
  );
}

function presentHits(hits) {
  if (hits.length === 0) return make("p", { class: "lead" }, "Nothing was found.");
  const summary = make("summary", {}, count(hits.length, "passage"), " found");
  const items = hits.map((hit) =>
    make(
      "li",
      { value: hit.rank, class: hit.wanted && "wanted" },
      make("span", { class: "place", dir: "auto" }, tellPlace(hit)),
      hit.wanted && make("span", { class: "verdict", "data-verdict": "supported" }, " ✓ wanted"),
      make("p", { class: "words", dir: "auto" }, shorten(hit.text)),
    ),
  );
  return make("details", { open: true }, summary, make("ol", { class: "hits" }, ...items));
}

function presentReply({ status, text }) {
  if (!status) return [];
  return [
    make("p", { class: "says" }, `${STATUSES[status]}${text ? ":" : "."}`),
    text && make("blockquote", { class: "words", dir: "auto" }, text),
  ];
}

/** The ways on: walk its stages as they are today, ask it oneself. */
function makeWays({ question, expected }) {
  const [text, id] = [expected.contains[0], expected.document_id[0]];
  const walk = text ? { question, text } : { question, document_id: id };
  const address = `#/ask?${new URLSearchParams({ question })}`;
  return make(
    "div",
    { class: "ways" },
    (text || id) && makeWalk(() => walk, "Walk its stages"),
    make("a", { href: address }, "Ask it"),
  );
}

function shorten(text) {
  const words = text.split(/\s+/u).join(" ");
  return words.length > EXCERPT ? `${words.slice(0, EXCERPT).trimEnd()}…` : words;
}
