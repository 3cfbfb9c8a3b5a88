// A page of a PDF as a picture, with the blocks marked that the cited words stand in.

import { callImage } from "./api.js";
import { draw, make } from "./dom.js";
import { waiting } from "./states.js";

const DOTS = 2; // of the picture, for each point of the boxes
const MOST = 4000; // dots of a side, above which the service draws smaller

/**
 * The page that a citation stands on, marked; where no picture can be had, the reason instead.
 * @param {{id: string, title: string, blocks: Array<object>}} found
 * @param {{page: number, start: number, end: number}} citation
 */
export function presentPage(found, citation) {
  const figure = make("figure", { class: "page" }, waiting(`Drawing page ${citation.page} …`));
  const boxes = findBoxes(found.blocks, citation);
  callImage(`pages/${citation.page}.png`, { id: found.id })
    .then((source) =>
      fill(figure, source, boxes, `Page ${citation.page} of ${found.title ?? found.id}`),
    )
    .catch((error) =>
      figure.replaceChildren(
        make("p", { class: "note" }, `${error.message}; its text stands below.`),
      ),
    );
  return figure;
}

function findBoxes(blocks, { page, start, end }) {
  const touched = blocks.filter((block) => block.start < end && start < block.end);
  return touched.flatMap((block) => block.boxes ?? []).filter((box) => box.page === page);
}

async function fill(figure, source, boxes, words) {
  const image = make("img", { src: source });
  await image.decode();
  const [width, height] = [image.naturalWidth / DOTS, image.naturalHeight / DOTS];
  const marked = boxes.length > 0 && Math.max(image.naturalWidth, image.naturalHeight) < MOST;
  image.alt = marked ? `${words}, with the cited place marked` : words;
  const marks = boxes.map(({ left, top, right, bottom }) =>
    draw("rect", { x: left - 3, y: top - 3, width: right - left + 6, height: bottom - top + 6 }),
  );
  const layer = draw("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" }, ...marks);
  figure.replaceChildren(
    make("div", { class: "drawn" }, image, ...(marked ? [layer] : [])),
    make("figcaption", {}, words),
  );
}
