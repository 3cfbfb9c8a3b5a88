// A page of a PDF as a picture, with the cited place marked by the service that draws it.

import { callImage } from "./api.js";
import { make } from "./dom.js";
import { fillWith } from "./states.js";

/**
 * The page that a citation stands on.
 * @param {{id: string, title: string}} found
 * @param {{page: number, start: number, end: number}} citation
 * @param {object | null} place null where the words are no longer there: then nothing is marked
 */
export function presentPages(found, { page, start, end }, place) {
  const figure = make("figure", { class: "page" });
  const marked = place ? { start, end } : {};
  fillWith(figure, `Drawing page ${page} …`, async () => {
    const source = await callImage(`pages/${page}.png`, { id: found.id, ...marked });
    const words = `Page ${page} of ${found.title ?? found.id}`;
    return [
      make("img", { src: source, alt: place ? `${words}, with the cited place marked` : words }),
      make("figcaption", {}, words),
    ];
  });
  return figure;
}
