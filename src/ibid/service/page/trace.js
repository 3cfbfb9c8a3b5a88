// Why these sources: the ranks of each passage on its way from the retrievers to the answer.

import { call } from "./api.js";
import { draw, make } from "./dom.js";
import { fillWith } from "./states.js";
import { tellPlace } from "./text.js";

const ROWS = 12; // ranks that the picture shows; those beyond stand on one line below
const [LEFT, TOP, COLUMN, ROW] = [26, 34, 66, 20];

/** The words of the stages. */
const STAGES = {
  lexical: "words",
  dense: "meaning",
  feedback: "alike",
  fused: "fused",
  final: "reranked",
  sent: "sent",
};

/** A fold that tells, when it is opened, how the sources of an answer were found. */
export function showReasons(answer) {
  const place = make("div", { class: "reasons" });
  const fold = make("details", {}, make("summary", {}, "Why these sources"), place);
  const open = () => fillWith(place, "Looking at the search …", () => tellReasons(answer));
  fold.addEventListener("toggle", () => fold.open && !place.hasChildNodes() && open());
  return fold;
}

async function tellReasons(answer) {
  const kept = answer.hits ? answer : await call(`answers/${answer.answer_id}`);
  const ways = findWays(answer, kept.hits ?? []);
  if (ways.length === 0)
    return [make("p", {}, "All that you may see was sent: nothing was searched for.")];
  const columns = listColumns(ways);
  return [
    make("p", { class: "lead" }, tellColumns(columns)),
    drawWays(ways, columns),
    presentTable(ways, columns),
  ];
}

/**
 * The way of each hit: its rank at each stage that knew it, and the number it was sent under.
 * @returns {Array<{hit: object, ranks: Record<string, number>, number?: number, cited: boolean}>}
 */
function findWays(answer, hits) {
  const numbers = new Map(answer.sources.map((source) => [source.passage_id, source.number]));
  const cited = new Set(answer.citations.map((citation) => citation.passage_id));
  const share = (hit) => Object.values(hit.contributions).reduce((sum, one) => sum + one.share, 0);
  const fused = [...hits].sort((one, other) => share(other) - share(one) || one.rank - other.rank);
  return hits.map((hit) => {
    const ranks = {};
    for (const [name, given] of Object.entries(hit.contributions)) ranks[name] = given.rank;
    ranks.fused = fused.indexOf(hit) + 1;
    ranks.final = hit.rank;
    const number = numbers.get(hit.passage_id);
    if (number) ranks.sent = number;
    return { hit, ranks, number, cited: cited.has(hit.passage_id) };
  });
}

/** The stages in their order; what changed nothing after fusion is left out. */
function listColumns(ways) {
  const retrievers = [...new Set(ways.flatMap(({ hit }) => Object.keys(hit.contributions)))];
  const moved = ways.some(({ ranks }) => ranks.final !== ranks.fused);
  return [...retrievers, "fused", ...(moved ? ["final"] : []), "sent"];
}

function tellColumns(columns) {
  const names = columns.map(name);
  return `Ranks from left to right: ${names.join(" → ")}. Passages that the answer cites are drawn strong.`;
}

function drawWays(ways, columns) {
  const row = (rank) => TOP + (Math.min(rank, ROWS + 1) - 0.5) * ROW;
  const column = (place) => LEFT + (place + 0.5) * COLUMN;
  const deepest = Math.max(...ways.flatMap((way) => Object.values(way.ranks)));
  const rows = Math.min(deepest, ROWS);
  const ranks = Array.from({ length: rows }, (_, place) => place + 1);
  const height = TOP + (deepest > ROWS ? rows + 1 : rows) * ROW;
  const width = LEFT + columns.length * COLUMN;
  const drawn = [...ways].sort((one, other) => one.cited - other.cited); // the cited ones on top
  return make(
    "div",
    { class: "picture", tabindex: "0", role: "group", "aria-label": "Picture of the ranks" },
    draw(
      "svg",
      {
        viewBox: `0 0 ${width} ${height}`,
        width,
        height,
        role: "img",
        "aria-label": "The ranks of the table below as lines",
      },
      ...columns.map((one, place) =>
        draw("text", { x: column(place), y: 18, class: "stage" }, name(one)),
      ),
      ...ranks.map((rank) =>
        draw("text", { x: LEFT - 6, y: row(rank) + 4, class: "rank" }, String(rank)),
      ),
      deepest > ROWS && draw("text", { x: LEFT - 6, y: row(ROWS + 1) + 4, class: "rank" }, "…"),
      ...drawn.map((way) => drawWay(way, columns, column, row)),
    ),
  );
}

function drawWay({ hit, ranks, number, cited }, columns, column, row) {
  const points = columns
    .map((stage, place) => ({ rank: ranks[stage], x: column(place) }))
    .filter(({ rank }) => rank !== undefined)
    .map(({ rank, x }) => ({ x, y: row(rank) }));
  const kind = cited ? "cited" : number ? "sent" : "left";
  const line = points.map(({ x, y }) => `${x},${y}`).join(" ");
  return draw(
    "g",
    { class: `way ${kind}` },
    draw("title", {}, tellPlace(hit)),
    draw("polyline", { points: line }),
    ...points.map(({ x, y }) => draw("circle", { cx: x, cy: y, r: cited ? 4 : 3 })),
  );
}

function presentTable(ways, columns) {
  const head = columns.map((one) => make("th", { scope: "col" }, name(one)));
  const rows = ways
    .slice(0, 2 * ROWS)
    .map(({ hit, ranks, cited }) =>
      make(
        "tr",
        { class: cited && "cited" },
        make("th", { scope: "row", dir: "auto" }, tellPlace(hit)),
        ...columns.map((one) => make("td", {}, ranks[one] ? String(ranks[one]) : "–")),
      ),
    );
  return make(
    "div",
    { class: "scroll", tabindex: "0", role: "group", "aria-label": "Table of the ranks" },
    make(
      "table",
      {},
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "passage"), ...head)),
      make("tbody", {}, ...rows),
    ),
  );
}

function name(stage) {
  return STAGES[stage] ?? stage;
}
