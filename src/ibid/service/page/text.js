// Offsets: the service counts Unicode code points, the browser UTF-16 units.

const ASTRAL = /[\u{10000}-\u{10ffff}]/u;

/**
 * What turns an offset in code points into one in UTF-16 units of this text.
 * @param {string} text
 * @returns {(point: number) => number}
 */
export function measure(text) {
  if (!ASTRAL.test(text)) return (point) => Math.min(point, text.length);
  const units = [0];
  for (const character of text) units.push(units.at(-1) + character.length);
  return (point) => units[Math.min(point, units.length - 1)];
}

/** The place of words in a text, in UTF-16 units; null where they do not stand in it. */
export function locate(text, words) {
  const start = text.indexOf(words);
  return start < 0 ? null : { start, end: start + words.length };
}

/** A number with its noun: "1 claim", "3 claims". */
export function count(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/** Where a passage stands: title, the headings above it, page. */
export function tellPlace({ document_id, title, headings = [], page, place }) {
  const path = headings.filter((heading) => heading !== title);
  const where = page ? `p. ${page}` : place;
  return [title ?? document_id, ...path, where].filter(Boolean).join(" › ");
}

/** A moment as the reader's own calendar writes it. */
export function tellTime(moment) {
  if (!moment) return "";
  const shown = { dateStyle: "medium", timeStyle: "short" };
  return new Intl.DateTimeFormat(undefined, shown).format(new Date(moment));
}

/** A day as the reader's own calendar writes it. */
export function tellDay(moment) {
  if (!moment) return "";
  return new Intl.DateTimeFormat(undefined, { dateStyle: "medium" }).format(new Date(moment));
}
