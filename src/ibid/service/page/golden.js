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
  const form = make("form", { class: "golden" });
  const own = answer.answer_id; // several answers of one page may be asked about
  const field = make("textarea", { id: `expected-${own}`, rows: "2", dir: "auto" });
  const right = make("input", { id: `right-${own}`, type: "text", dir: "auto" });
  const read = () => readExpected(form, field, right);
  const walk = makeWalk(() => makeQuestion(answer, read()), "Where was it lost?");
  const choose = (kind) => {
    const away = kind === "unanswerable"; // nothing is to be found then
    for (const one of [field, right, walk.querySelector("button")]) one.disabled = away;
    const [first] = answer.sources;
    field.placeholder = kind === "document_id" ? (first?.document_id ?? "leave.md") : "";
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const said = read();
    if (said) keep(said);
  });
  form.append(
    makeKinds(own, choose),
    make("label", { for: field.id }, "The words, or the id of the document"),
    field,
    make("label", { for: right.id }, "The right answer (optional)"),
    right,
    make("div", { class: "row" }, make("button", { class: "main" }, "Make it a golden case"), walk),
    told,
  );
  return form;
}

function makeKinds(own, choose) {
  const kinds = Object.entries(EXPECTED).map(([value, words]) => {
    const id = `expected-${value}-${own}`;
    const checked = value === "contains";
    const onchange = () => choose(value);
    const choice = make("input", { type: "radio", name: "expected", id, value, checked, onchange });
    return make("div", { class: "tick" }, choice, make("label", { for: id }, words));
  });
  return make("fieldset", {}, make("legend", {}, "What should it have found?"), ...kinds);
}

/** What a form says should have been found; null, with the keyboard at its field, for nothing. */
function readExpected(form, field, right) {
  const kind = new FormData(form).get("expected");
  if (kind === "unanswerable") return { unanswerable: true };
  const words = field.value.trim();
  if (!words) {
    field.focus();
    return null;
  }
  return { [kind]: words, ...(right.value.trim() && { answer: right.value.trim() }) };
}

/** The question to walk for what was said; null where nothing was. */
function makeQuestion({ question }, said) {
  if (!said) return null;
  const { contains: text, document_id } = said;
  return { question, ...(text ? { text } : { document_id }) };
}
