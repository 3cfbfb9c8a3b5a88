// The history: what was asked and answered, one of them whole, and answered again.

import { call } from "./api.js";
import { presentAnswer } from "./answer.js";
import { make, say, show } from "./dom.js";
import { presentRating } from "./rating.js";
import { failure, fillWith, nothing, waiting } from "./states.js";
import { tellTime } from "./text.js";
import { STATUSES } from "./verdicts.js";

const [FEW, MOST] = [50, 1000]; // answers that are fetched at first, and at last

/** Fills a place with the list. */
export function showHistory(place) {
  const list = make("div");
  const choices = { "": "All of them", good: "Rated good", bad: "Rated bad" };
  const options = Object.entries(choices).map(([value, words]) => make("option", { value }, words));
  const rated = make("select", { id: "rated" }, ...options);
  const load = (most) =>
    fillWith(list, "Fetching the history …", () => presentLog(rated.value || null, most, load));
  rated.addEventListener("change", () => load(FEW));
  show(
    place,
    make("h1", {}, "History"),
    make("div", { class: "narrow" }, make("label", { for: "rated" }, "Show"), rated),
    list,
  );
  load(FEW);
}

async function presentLog(rated, most, load) {
  const { answers } = await call("answers", { query: { rated, most } });
  if (answers.length === 0 && rated) return [nothing(`None is rated ${rated}.`)];
  if (answers.length === 0) {
    const way = make("p", {}, make("a", { href: "#/ask" }, "Ask the first question"));
    return [nothing("Nothing was asked yet.", way)];
  }
  const more = make("button", { type: "button", onclick: () => load(MOST) }, "Show more");
  return [
    make("ol", { class: "log" }, ...answers.map(presentEntry)),
    answers.length === FEW && most < MOST && make("p", { class: "after" }, more),
  ].filter(Boolean);
}

/** Fills a place with one answer, named in the address. */
export function showKept(place, query) {
  const [heading, body] = [
    make("h1", { class: "question", dir: "auto" }, "Answer"),
    make("article", { class: "turn" }),
  ];
  show(
    place,
    make("p", { class: "back" }, make("a", { href: "#/history" }, "← The history")),
    heading,
    body,
  );
  fillWith(body, "Fetching the answer …", async () => {
    const answer = await call(`answers/${encodeURIComponent(query.get("id"))}`);
    heading.textContent = answer.question;
    return [
      make("p", { class: "facts" }, ...presentFacts(answer)),
      make(
        "div",
        { class: "reply" },
        ...presentAnswer(answer),
        ...presentFeedback(answer),
        presentRating(answer),
        makeReplay(answer),
      ),
    ];
  });
}

function presentEntry(entry) {
  const rating = entry.feedback.at(-1)?.rating;
  const address = `#/answer?${new URLSearchParams({ id: entry.answer_id })}`;
  return make(
    "li",
    {},
    make("a", { href: address, dir: "auto" }, entry.question),
    make("p", { class: "words", dir: "auto" }, entry.text),
    make(
      "p",
      { class: "facts" },
      make("span", {}, STATUSES[entry.status]),
      make("span", {}, tellTime(entry.asked_at)),
      rating && make("span", {}, `rated ${rating}`),
      ...entry.documents.map((id) => make("span", { class: "id" }, id)),
    ),
  );
}

function presentFacts({ asked_at, version, generator, embedder }) {
  const facts = [
    tellTime(asked_at),
    `version ${version}`,
    `written by ${generator}`,
    `found by ${embedder}`,
  ];
  return facts.map((fact) => make("span", {}, fact));
}

function presentFeedback({ feedback }) {
  if (!feedback?.length) return [];
  const lines = feedback.map(({ rating, comment, given_at }) =>
    make(
      "li",
      {},
      `${rating}, ${tellTime(given_at)}`,
      comment && make("q", { dir: "auto" }, comment),
    ),
  );
  return [make("ul", { class: "feedback", "aria-label": "Feedback" }, ...lines)];
}

/** A button that has the question answered again from the same sources, and what came of it. */
function makeReplay(answer) {
  const place = make("div", { class: "replayed" });
  const replay = async () => {
    show(place, waiting("Answering again …"));
    try {
      const again = await call(`answers/${answer.answer_id}/replay`, { method: "POST", body: {} });
      const words = again.identical
        ? "The same, character for character."
        : "Another answer than before:";
      say(words);
      show(
        place,
        make("p", { class: "note" }, words),
        ...(again.identical ? [] : presentAnswer({ ...again, hits: answer.hits })),
      );
    } catch (error) {
      show(place, failure(error));
    }
  };
  return make(
    "div",
    {},
    make("button", { type: "button", onclick: replay }, "Answer again from the same sources"),
    place,
  );
}
