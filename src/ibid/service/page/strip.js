// All chunks of the lab as a strip of cells, in the order of the documents: what was cut, what was found.

import { draw, make } from "./dom.js";
import { count } from "./text.js";

const [ACROSS, WIDTH, HEIGHT, GAP] = [60, 8, 12, 2];
const MOST = 3000; // chunks, beyond which cells say nothing

/**
 * The strip; nothing where there are too many chunks.
 * @param {Array<{evidence: boolean, document_id: string}>} chunks
 * @param {Array<{chunk: number, rank: number}>} hits
 */
export function drawStrip(chunks, hits) {
  if (chunks.length > MOST) return null;
  const ranks = new Map(hits.map(({ chunk, rank }) => [chunk, rank]));
  const rows = Math.ceil(chunks.length / ACROSS);
  const [width, height] = [Math.min(chunks.length, ACROSS) * (WIDTH + GAP), rows * (HEIGHT + GAP)];
  const cells = chunks.map((chunk, number) =>
    draw(
      "rect",
      {
        x: (number % ACROSS) * (WIDTH + GAP) + GAP / 2,
        y: Math.floor(number / ACROSS) * (HEIGHT + GAP) + GAP / 2,
        width: WIDTH,
        height: HEIGHT,
        class: [chunk.evidence && "evidence", ranks.has(number) && "hit"].filter(Boolean).join(" "),
      },
      draw("title", {}, tellCell(chunk, number, ranks.get(number))),
    ),
  );
  const words = `${count(chunks.length, "chunk")} in the order of the documents: filled is what is
    shown below, framed what holds the evidence.`;
  return make(
    "figure",
    { class: "strip" },
    draw("svg", { viewBox: `0 0 ${width} ${height}`, width, "aria-hidden": "true" }, ...cells),
    make("figcaption", {}, words),
  );
}

function tellCell({ evidence, document_id }, number, rank) {
  const told = [`chunk ${number} of ${document_id}`, rank && `rank ${rank}`];
  return [...told, evidence && "holds the evidence"].filter(Boolean).join(", ");
}
