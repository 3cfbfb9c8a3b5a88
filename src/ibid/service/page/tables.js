// Tables of a document: the rows of its text as cells, and every character still in its place.

import { make } from "./dom.js";

const BAR = /(\s*(?<!\\)\|\s*)/; // what stands between two cells
const DIVIDER = /^[\s|:-]*-[\s|:-]*$/; // the row that only draws a line

/**
 * A table of Markdown rows. Bars and dividers are in it and not seen: an offset of the text is one of
 * the table, and what is marked or copied is what the document says.
 * @param {string} words
 * @param {(text: string, element: HTMLElement) => void} put what puts the next characters in
 */
export function presentTable(words, put) {
  const lines = words.split(/(?<=\n)/);
  const headed = DIVIDER.test(lines[1] ?? "");
  const rows = lines.map((line, place) => {
    const heads = headed && place === 0;
    const makeCell = (text) => make(heads && text ? "th" : "td", { dir: "auto" });
    const row = make("tr", { hidden: DIVIDER.test(line) });
    fillRow(row, line, makeCell, put);
    return row;
  });
  return make("table", {}, make("tbody", {}, ...rows));
}

function fillRow(row, line, makeCell, put) {
  const parts = line.split(BAR); // texts and, between them, bars
  const last = parts.length - 1;
  let cell = null;
  for (const [place, part] of parts.entries()) {
    if (part === "") continue;
    const bar = place % 2 === 1;
    const text = bar ? parts[place + 1] : part;
    if (!cell || (bar && (place < last - 1 || text))) cell = row.appendChild(makeCell(text));
    put(part, bar ? cell.appendChild(make("span", { class: "bar", "aria-hidden": "true" })) : cell);
  }
}
