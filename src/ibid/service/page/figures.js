// Figures: measures as bars with their intervals, recall over ranks, the stages that lost answers.

import { draw, make } from "./dom.js";

/** What each measure tells, by the part of its name before `@`. */
const MEANINGS = {
  recall: "of what is wanted, the share that was found",
  precision: "of what was found, the share that is wanted",
  hit: "questions for which any of it was found",
  mrr: "one over the rank of the first that is wanted",
  map: "precision at each that is wanted",
  ndcg: "gains that lessen with rank",
  evidence_cited: "of what is wanted, the share that is cited",
  exact: "the expected answer, word for word",
  f1: "words shared with the expected answer",
  contains: "answers that hold the expected one",
  faithfulness: "claims that a source supports",
  citation_recall: "claims that their own source supports",
  citation_precision: "citations that support their claim",
  relevance: "how near answer and question are in meaning",
  judged_faithfulness: "claims supported, as a model judges",
  judged_relevance: "relevance, as a model judges",
  judged_correctness: "correctness, as a model judges",
  abstention_accuracy: "right to answer, or not to",
  abstention_precision: "abstentions that were right",
  abstention_recall: "unanswerable questions that got no answer",
  abstention_f1: "the mean of these two",
};

/** How a text was lost, by the stage that lost it. */
export const STAGES = {
  read: "in no document",
  chunk: "cut in two",
  index: "not indexed",
  access: "hidden from who asks",
  filter: "filtered out",
  lexical: "not found by words",
  dense: "not found by meaning",
  fuse: "outranked",
  rerank: "reranked away",
  select: "left out of the sources",
  prompt: "no room in the prompt",
  answer: "sent, and not used",
  cite: "used, and not cited",
};

/** Where a text was lost, in words. */
export function tellLost(stage) {
  return `lost at ${stage}: ${STAGES[stage]}`;
}

/**
 * Measures from 0 to 1, a row each: name, bar to the mean with a stroke over the interval, numbers.
 * @param {string} caption
 * @param {Record<string, {mean: number, low: number, high: number, n: number}>} measures
 */
export function presentMeasures(caption, measures) {
  const rows = Object.entries(measures).map(([name, { mean, low, high, n }]) =>
    makeRow(
      [name.replace("@", " at ").replaceAll("_", " "), MEANINGS[name.split("@")[0]]],
      drawBar(mean, low, high),
      [round(mean), `${round(low)} – ${round(high)}`, String(n)],
    ),
  );
  return makeTable(caption, ["measure", "", "mean", "95%", "n"], rows);
}

/**
 * The stages that lost what was expected, with the share of all questions that each lost.
 * @param {Record<string, number>} causes
 * @param {number} queries
 */
export function presentCauses(causes, queries) {
  const rows = Object.entries(causes).map(([stage, lost]) =>
    makeRow([stage, STAGES[stage]], drawBar(lost / queries), [String(lost)]),
  );
  return makeTable("Where it was lost", ["stage", "", "questions"], rows);
}

/**
 * Recall over the ranks that it was measured at, which stand at even distances.
 * @param {number[]} ranks
 * @param {Array<{mean: number, low: number, high: number}>} found
 */
export function drawRecall(ranks, found) {
  const [left, top, width, height] = [34, 12, 300, 150];
  const across = (place) => left + ((place + 0.5) / ranks.length) * width;
  const down = (value) => top + (1 - value) * height;
  const ticks = [0, 0.5, 1].flatMap((tick) => [
    draw("line", { class: "grid", x1: left, x2: left + width, y1: down(tick), y2: down(tick) }),
    draw("text", { class: "rank", x: left - 8, y: down(tick) + 4 }, String(tick)),
  ]);
  const points = found.flatMap(({ mean, low, high }, place) => [
    draw("path", { class: "interval", d: `M${across(place)} ${down(low)}V${down(high)}` }),
    draw("circle", { cx: across(place), cy: down(mean), r: 4 }),
    draw("text", { class: "stage", x: across(place), y: top + height + 18 }, `at ${ranks[place]}`),
  ]);
  const line = found.map(({ mean }, place) => `${across(place)},${down(mean)}`).join(" ");
  const words = ranks.map((rank, place) => `${round(found[place].mean)} at ${rank}`);
  return draw(
    "svg",
    {
      class: "curve",
      viewBox: `0 0 ${left + width} ${top + height + 26}`,
      role: "img",
      "aria-label": `Recall by rank: ${words.join(", ")}`,
    },
    ...ticks,
    draw("polyline", { points: line }),
    ...points,
  );
}

function makeTable(caption, heads, rows) {
  const head = heads.map((one, place) =>
    one ? make("th", { scope: "col", class: place > 1 && "number" }, one) : make("td"),
  );
  return make(
    "table",
    { class: "figures" },
    make("caption", {}, make("h2", {}, caption)),
    make("thead", {}, make("tr", {}, ...head)),
    make("tbody", {}, ...rows),
  );
}

function makeRow([name, meaning], picture, numbers) {
  return make(
    "tr",
    {},
    make("th", { scope: "row" }, name, meaning && make("span", { class: "meaning" }, meaning)),
    make("td", { class: "drawn" }, picture),
    ...numbers.map((number) => make("td", { class: "number" }, number)),
  );
}

/** A bar over a hundred units, stretched to whatever room there is; strokes keep their width. */
function drawBar(mean, low, high) {
  const [from, to] = [100 * low, 100 * high];
  const interval = `M${from} 5H${to}M${from} 2.5V7.5M${to} 2.5V7.5`;
  return draw(
    "svg",
    { class: "bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
    draw("path", { class: "grid", d: "M0 0V10M50 0V10M100 0V10" }),
    draw("rect", { y: 1.5, width: 100 * mean, height: 7 }),
    low !== undefined && draw("path", { class: "interval", d: interval }),
  );
}

function round(value) {
  return value.toFixed(3);
}
