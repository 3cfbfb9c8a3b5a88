// The text of a document for a reader, and a mark over exact characters of it.

import { make } from "./dom.js";
import { presentTable } from "./tables.js";
import { measure } from "./text.js";

/** Elements by the kind of block. */
const ELEMENTS = {
  heading: (block, level) => make(`h${Math.min(level, 6)}`),
  paragraph: () => make("p"),
  list: () => make("p", { class: "list" }),
  table: () =>
    make("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "Table" }),
  code: () => make("pre", { tabindex: "0" }),
  page_break: () => make("hr"),
};

/**
 * The text of a document by its blocks, with what it takes to find a character again.
 * @param {{id: string, text: string, blocks: Array<object>}} found
 * @param {number} above the level of the page's own heading above it
 * @returns {{element: HTMLElement, nodes: Array<{node: Text, start: number, end: number, block: HTMLElement}>}}
 */
export function presentBody({ id, text, blocks }, above) {
  const unit = measure(text);
  const nodes = [];
  let depth = above;
  const element = make("div", {
    class: "reading",
    role: "group",
    "aria-label": `Text of ${id}`,
    tabindex: "0",
  });
  for (const block of blocks) {
    const [start, end] = [unit(block.start), unit(block.end)];
    const words = text.slice(start, end).trimEnd();
    // No level is left out, whatever the document does: readers by ear go by levels.
    if (block.kind === "heading") depth = Math.min(above + block.level, depth + 1);
    const shown = ELEMENTS[block.kind](block, depth);
    let at = start;
    const put = (part, place) => {
      const node = document.createTextNode(part);
      nodes.push({ node, start: at, end: (at += part.length), block: shown });
      place.append(node);
    };
    if (block.kind === "table") shown.append(presentTable(words, put));
    else if (block.kind !== "page_break") put(words, shown);
    shown.setAttribute("dir", "auto");
    element.append(shown);
  }
  return { element, nodes };
}

/**
 * Marks characters of a text and brings them into sight; nothing is put into the text for it.
 * With a picture of their page above the text, it is the picture that stays in sight.
 * @param {{nodes: Array<{node: Text, start: number, end: number, block: HTMLElement}>}} reading
 * @param {{start: number, end: number}} place in UTF-16 units
 * @param {boolean} [pictured]
 */
export function mark({ nodes }, { start, end }, pictured = false) {
  const touched = nodes.filter((one) => one.start < end && start < one.end);
  const ranges = touched.map(({ node, start: from, end: to }) => {
    const range = new Range();
    range.setStart(node, Math.max(start - from, 0));
    range.setEnd(node, Math.min(end, to) - from);
    return range;
  });
  if (ranges.length === 0) return;
  // A browser that has no highlights still shows the place, by the edge of its block.
  CSS.highlights?.set("cited", new Highlight(...ranges));
  for (const { block } of touched) block.classList.add("cited");
  if (pictured) return;
  touched[0].node.parentElement.closest("tr, .cited").scrollIntoView({ block: "center" });
}
