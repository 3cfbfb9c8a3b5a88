// The lab: say first where the evidence will come, then see what the controls make of it.

import { call } from "./api.js";
import { make, say, show } from "./dom.js";
import { fillWith } from "./states.js";
import { drawStrip } from "./strip.js";
import { count, locate } from "./text.js";

/** What can be predicted: its words, and whether a rank (null: not found) makes it true. */
const PREDICTIONS = {
  first: ["It comes first", (rank) => rank === 1],
  shown: [
    "It is among those shown, not first",
    (rank, k) => rank !== null && rank > 1 && rank <= k,
  ],
  below: ["It is found, but too far down", (rank, k) => rank !== null && rank > k],
  lost: ["It is not found", (rank) => rank === null],
};

/** Fills a place with the view. */
export function showLab(place) {
  const result = make("section", { class: "outcome", "aria-label": "Outcome" });
  const form = makeForm((asked, predicted) => {
    fillWith(result, "Cutting and searching …", async () => {
      const found = await call("lab", { method: "POST", body: asked });
      return presentOutcome(found, predicted);
    });
  });
  const words = `See what the size of the chunks and the way of searching do to the evidence.
    The documents are those that you may see; nothing is kept.`;
  show(place, make("h1", {}, "Lab"), make("p", { class: "lead" }, words), form, result);
}

function makeForm(run) {
  const question = make("input", { id: "lab-question", type: "text", required: true, dir: "auto" });
  const evidence = make("input", { id: "lab-evidence", type: "text", required: true, dir: "auto" });
  const unit = makeChoice("lab-unit", {
    words: "words",
    sentences: "sentences",
    characters: "characters",
  });
  const retriever = makeChoice("lab-retriever", {
    tfidf: "words (TF-IDF)",
    bm25: "words (BM25)",
    dense: "meaning",
    hybrid: "words and meaning",
  });
  const size = makeSlider("lab-size", 8, 80, 20);
  const overlap = makeSlider("lab-overlap", 0, 20, 5);
  const k = makeSlider("lab-k", 1, 5, 3);
  const rerank = make("input", { id: "lab-rerank", type: "checkbox" });
  const synonyms = make("input", { id: "lab-synonyms", type: "text", placeholder: "hotel, inn" });
  const filter = make("input", { id: "lab-filter", type: "text", placeholder: 'id like "it/%"' });
  const submit = (event) => {
    event.preventDefault();
    const asked = {
      question: question.value,
      evidence: evidence.value,
      unit: unit.value,
      size: Number(size.field.value),
      overlap: Math.min(Number(overlap.field.value), Number(size.field.value) - 1),
      k: Number(k.field.value),
      retriever: retriever.value,
      rerank: rerank.checked,
      synonyms: synonyms.value,
      ...(filter.value.trim() && { filter: filter.value.trim() }),
    };
    run(asked, new FormData(event.target).get("predicted"));
  };
  const field = (words, input, ...more) =>
    make("div", {}, make("label", { for: input.id }, words), input, ...more);
  return make(
    "form",
    { class: "lab-form", onsubmit: submit },
    field("Question", question),
    field("Evidence: the words that a chunk should hold", evidence),
    make(
      "div",
      { class: "fields" },
      field("Cut by", unit),
      field("Search by", retriever),
      field("Size of a chunk", size.field, size.told),
      field("Overlap", overlap.field, overlap.told),
      field("Chunks shown", k.field, k.told),
      field("Rewrite by synonyms", synonyms),
      field("Documents, by a filter", filter),
      make(
        "div",
        { class: "tick" },
        rerank,
        make("label", { for: "lab-rerank" }, "Rerank by proximity"),
      ),
    ),
    makePredictions(),
    make("button", { class: "main" }, "See"),
  );
}

function makeChoice(id, choices) {
  const options = Object.entries(choices).map(([value, words]) => make("option", { value }, words));
  return make("select", { id }, ...options);
}

function makeSlider(id, min, max, value) {
  const told = make("output", { for: id }, String(value));
  const field = make("input", { id, type: "range", min, max, value });
  field.addEventListener("input", () => (told.textContent = field.value));
  return { field, told };
}

function makePredictions() {
  const choices = Object.entries(PREDICTIONS).map(([value, [words]]) => {
    const id = `predict-${value}`;
    const choice = make("input", { type: "radio", name: "predicted", id, value, required: true });
    return make("div", { class: "tick" }, choice, make("label", { for: id }, words));
  });
  return make(
    "fieldset",
    {},
    make("legend", {}, "First predict: where will the evidence be?"),
    ...choices,
  );
}

function presentOutcome(
  { evidence, evidence_rank: rank, split, chunks, hits, controls, terms },
  predicted,
) {
  const [words, holds] = PREDICTIONS[predicted];
  const right = holds(rank, controls.k);
  const verdict = right ? "You were right." : `You said: ${words.toLowerCase()}.`;
  const told = `${verdict} ${tellRank(rank, split)}`;
  say(told);
  const searched = controls.retriever === "dense" ? "" : ` Searched for: ${terms.join(", ")}.`;
  const held = `${count(chunks.length, "chunk")}, ${chunks.filter((one) => one.evidence).length}`;
  return [
    make("p", { class: `display ${right ? "right" : "wrong"}` }, told),
    make("p", { class: "facts" }, `${held} with the evidence.${searched}`),
    drawStrip(chunks, hits),
    make(
      "ol",
      { class: "found" },
      ...hits.map((hit) => presentHit(hit, chunks[hit.chunk], evidence)),
    ),
  ].filter(Boolean);
}

function tellRank(rank, split) {
  if (rank !== null) return `The evidence is at rank ${rank}.`;
  if (split) return "No chunk holds the evidence whole: it was cut apart.";
  return "The evidence was not found.";
}

function presentHit({ rank, score, before, document_id }, { text }, evidence) {
  const place = locate(text, evidence);
  const parts = place
    ? [text.slice(0, place.start), make("mark", {}, evidence), text.slice(place.end)]
    : [text];
  return make(
    "li",
    {},
    make(
      "p",
      { class: "facts" },
      make("span", { class: "number" }, String(rank)),
      make("span", { class: "id" }, document_id),
      make("span", {}, `score ${score.toFixed(3)}`),
      before !== rank && make("span", {}, `was ${before} before reranking`),
    ),
    make("p", { class: "chunk", dir: "auto" }, ...parts),
  );
}
