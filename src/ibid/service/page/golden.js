// A golden case out of an answer: what should have been found is asked again at every evaluation.

import { call } from "./api.js";
import { make, say, show } from "./dom.js";
import { makeWalk } from "./stages.js";
import { failure } from "./states.js";

/** What a person can say of a wrong answer: a field's words, and the case that it makes. */
const EXPECTED = {
  contains: "these words, as a document has them",
  document_id: "something in this document",
  unanswerable: "nothing: the documents do not answer it",
};

/**
 * The way to keep a rated answer as a golden case.
 * @param {object} answer
 * @param {"good" | "bad"} rating
 */
export function makeGolden(answer, rating) {
  const told = make("div", { class: "told" });
  const keep = async (body) => {
    try {
      const { case: kept } = await call(`answers/${answer.answer_id}/golden`, {
        method: "POST",
        body,
      });
      const words = kept.draft
        ? "Kept as a draft: it counts when someone who keeps the library accepts it."
        : "Kept as a golden case: from now on it is part of every evaluation.";
      show(told, make("p", {}, words));
      say(words);
    } catch (error) {
      show(told, failure(error));
    }
  };
  if (rating === "bad") return makeForm(answer, keep, told);
  const button = make(
    "button",
    { type: "button", onclick: () => keep({}) },
    "Make it a golden case",
  );
  return make("div", { class: "golden" }, button, told);
}

function makeForm(answer, keep, told) {
  const field = make("textarea", { id: "expected", rows: "2", dir: "auto" });
  const right = make("input", { id: "right-answer", type: "text", dir: "auto" });
  const kinds = Object.entries(EXPECTED).map(([value, words]) => {
    const id = `expected-${value}`;
    const checked = value === "contains";
    const choice = make("input", { type: "radio", name: "expected", id, value, checked });
    choice.addEventListener("change", () => {
      for (const one of [field, right]) one.disabled = value === "unanswerable";
    });
    return make("div", { class: "tick" }, choice, make("label", { for: id }, words));
  });
  const form = make("form", { class: "golden" });
  const read = () => {
    const kind = new FormData(form).get("expected");
    if (kind === "unanswerable") return { unanswerable: true };
    const words = field.value.trim();
    if (!words) return field.focus() ?? null;
    return { [kind]: words, ...(right.value.trim() && { answer: right.value.trim() }) };
  };
  const walk = () => {
    const said = read();
    if (!said || said.unanswerable) return null;
    const { contains: text, document_id } = said;
    return { question: answer.question, ...(text ? { text } : { document_id }) };
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const said = read();
    if (said) keep(said);
  });
  form.append(
    make("fieldset", {}, make("legend", {}, "What should it have found?"), ...kinds),
    make("label", { for: "expected" }, "The words, or the id of the document"),
    field,
    make("label", { for: "right-answer" }, "The right answer (optional)"),
    right,
    make(
      "div",
      { class: "row" },
      make("button", { class: "main" }, "Make it a golden case"),
      makeWalk(walk, "Where was it lost?"),
    ),
    told,
  );
  return form;
}
