// Whether an answer was good, and a golden case made of it.

import { call } from "./api.js";
import { make, say, show } from "./dom.js";
import { failure } from "./states.js";

/**
 * The ways to say what an answer was worth.
 * @param {object} answer
 * @param {boolean} [linked] whether a link leads to where it is kept
 */
export function presentRating(answer, linked = false) {
  const told = make("div", { class: "told" });
  const comment = make("input", {
    type: "text",
    "aria-label": "Why (optional)",
    placeholder: "Why? (optional)",
  });
  const rate = async (rating) => {
    try {
      await call(`answers/${answer.answer_id}/feedback`, {
        method: "POST",
        body: { rating, comment: comment.value },
      });
      show(told, make("p", {}, `Noted as ${rating}.`));
      say(`Noted as ${rating}`);
    } catch (error) {
      show(told, failure(error));
    }
  };
  const address = `#/answer?${new URLSearchParams({ id: answer.answer_id })}`;
  return make(
    "div",
    { class: "rating" },
    make(
      "div",
      { class: "row", role: "group", "aria-label": "Was this answer good?" },
      make("button", { type: "button", onclick: () => rate("good") }, "Good"),
      make("button", { type: "button", onclick: () => rate("bad") }, "Bad"),
      comment,
    ),
    make(
      "p",
      { class: "keep" },
      linked && make("a", { href: address }, "Kept in the history"),
      presentGolden(answer),
    ),
    told,
  );
}

/** A link that gives the answer as a line for a file of golden cases; none where nothing holds it. */
function presentGolden(answer) {
  const held = answer.citations.some(({ verdict }) => verdict === "supported");
  if (answer.status !== "abstained" && !held) return null;
  const line = `${JSON.stringify(makeCase(answer))}\n`;
  const address = `data:application/x-ndjson;charset=utf-8,${encodeURIComponent(line)}`;
  return make(
    "a",
    { href: address, download: `golden-${answer.answer_id}.jsonl` },
    "Save as a golden case",
  );
}

/**
 * The golden case of an answer, as `ibid golden add` makes it: what the answer rests on should be
 * found again, and an abstention stay one. It is a draft until a person accepts it.
 */
function makeCase({ answer_id, question, status, text, citations, request }) {
  const cited = citations.filter(({ verdict, quote }) => verdict === "supported" && quote);
  const expected = {
    contains: [...new Set(cited.map(({ quote }) => quote))],
    document_id: [...new Set(cited.map(({ document_id }) => document_id))],
    answer: text.replaceAll(/\s*\[\d+\]/g, ""),
  };
  return {
    id: `answer-${answer_id}`,
    question,
    ...(status === "abstained" ? { unanswerable: true } : expected),
    as: request.principals,
    ...(request.filter && { filter: request.filter }),
    ...(request.history.length > 0 && { history: request.history }),
    draft: true,
  };
}
