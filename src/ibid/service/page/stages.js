// Where a text was lost: the stages that it passes on the way of a question, to the one that lost it.

import { call } from "./api.js";
import { make, say, show } from "./dom.js";
import { tellLost } from "./figures.js";
import { failure, waiting } from "./states.js";

/**
 * A button that has a question walked through every stage, and the place for what it finds.
 * @param {() => ({question: string, text?: string, document_id?: string} | null)} read what is to be
 *   walked; null where there is nothing yet
 * @param {string} words of the button
 */
export function makeWalk(read, words) {
  const place = make("div", { class: "walked" });
  const walk = async () => {
    const body = read();
    if (!body) return;
    show(place, waiting("Walking every stage …"));
    try {
      const found = await call("diagnose", { method: "POST", body });
      show(place, presentStages(found));
      say(tellEnd(found));
    } catch (error) {
      show(place, failure(error));
    }
  };
  const button = make("button", { type: "button", onclick: walk }, words);
  return make("div", { class: "walk" }, button, place);
}

function tellEnd({ first_failure: stage }) {
  return stage ? `It was ${tellLost(stage)}.` : "Nothing lost it: it was found and cited.";
}

function presentStages(found) {
  const rows = found.stages.map(({ stage, ok, detail }) =>
    make(
      "li",
      { class: ok ? "right" : "wrong" },
      make("span", { "aria-hidden": "true" }, ok ? "✓" : "✗"),
      make("strong", {}, stage),
      make("span", { dir: "auto" }, detail),
    ),
  );
  return make(
    "div",
    {},
    make("p", { class: "display" }, tellEnd(found)),
    make("ol", { class: "stages" }, ...rows),
    found.advice && make("p", { class: "note" }, `What would change it: ${found.advice}.`),
  );
}
