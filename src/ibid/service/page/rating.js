// Whether an answer was good, and what becomes of that.

import { call } from "./api.js";
import { make, say, show } from "./dom.js";
import { makeGolden } from "./golden.js";
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
    dir: "auto",
  });
  const rate = async (rating) => {
    try {
      await call(`answers/${answer.answer_id}/feedback`, {
        method: "POST",
        body: { rating, comment: comment.value },
      });
      show(told, make("p", {}, `Noted as ${rating}.`), makeGolden(answer, rating));
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
    linked && make("p", { class: "keep" }, make("a", { href: address }, "Kept in the history")),
    told,
  );
}
