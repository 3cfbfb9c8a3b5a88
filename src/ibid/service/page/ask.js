// Asking: a question, its answer as it is written, and the questions that follow.

import { callStream, ServiceError } from "./api.js";
import { presentAnswer, tellStatus } from "./answer.js";
import { make, say, show } from "./dom.js";
import { presentRating } from "./rating.js";
import { failure, waiting } from "./states.js";
import { count } from "./text.js";

const REMEMBERED = 40; // questions and answers that a follow-up brings along

/** Fills a place with the view, and the question that the address names; gives what stops it. */
export function showAsk(place, query) {
  const turns = make("div", { class: "turns" });
  const greeting = make(
    "div",
    { class: "greeting" },
    make("h1", { class: "display" }, "Ask your documents."),
    make(
      "p",
      {},
      "Every sentence of the answer names its source; every source is checked before you read it.",
    ),
  );
  const heading = make("h1", { class: "unseen" }, "Ask");
  heading.hidden = true;
  const talk = { history: [], stop: null, send: null, turns, greeting, heading };
  const form = makeForm(talk, query.get("question") ?? "");
  show(place, greeting, heading, turns, form);
  return () => talk.stop?.abort();
}

function makeForm(talk, question) {
  const field = make(
    "textarea",
    { id: "question", rows: "1", autocomplete: "off", dir: "auto" },
    question,
  );
  const send = make("button", { class: "main" }, "Ask");
  talk.send = send;
  const options = makeOptions();
  const form = make(
    "form",
    { class: "ask-form" },
    make("label", { for: "question" }, "Your question"),
    make("div", { class: "row" }, field, send),
    options.element,
  );
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (talk.stop) return talk.stop.abort();
    const question = field.value.trim();
    if (!question) return field.focus();
    field.value = "";
    return askOnce(talk, { question, ...options.read() });
  });
  return form;
}

function makeOptions() {
  const choice = (value, words) => make("option", { value }, words);
  const modes = [
    choice("hybrid", "words and meaning"),
    choice("lexical", "words"),
    choice("dense", "meaning"),
  ];
  const mode = make("select", { id: "mode" }, ...modes);
  const sources = make("input", {
    id: "sources",
    type: "number",
    min: "1",
    max: "50",
    placeholder: "6",
  });
  const filter = make("input", {
    id: "filter",
    type: "text",
    placeholder: 'tag.department = "people"',
  });
  const strict = make("input", { id: "strict", type: "checkbox" });
  const field = (words, input) => make("div", {}, make("label", { for: input.id }, words), input);
  const element = make(
    "details",
    { class: "options" },
    make("summary", {}, "Options"),
    make(
      "div",
      { class: "fields" },
      field("Search by", mode),
      field("Sources", sources),
      field("Filter", filter),
      make(
        "div",
        { class: "tick" },
        strict,
        make("label", { for: "strict" }, "Leave out what no source supports"),
      ),
    ),
  );
  const read = () => ({
    ...(mode.value !== "hybrid" && { mode: mode.value }),
    ...(sources.value && { k: Number(sources.value) }),
    ...(filter.value.trim() && { filter: filter.value.trim() }),
    ...(strict.checked && { strict: true }),
  });
  return { element, read };
}

/** Asks one question and shows its answer as it comes. */
async function askOnce(talk, request) {
  const reply = make("div", { class: "reply" }, waiting("Searching …"));
  const turn = make(
    "article",
    { class: "turn" },
    make("h2", { dir: "auto" }, request.question),
    reply,
  );
  talk.greeting.hidden = true;
  talk.heading.hidden = false;
  talk.turns.append(turn);
  turn.scrollIntoView({ block: "start" });
  say("Searching");
  talk.stop = new AbortController();
  talk.send.textContent = "Stop";
  try {
    const body = talk.history.length ? { ...request, history: talk.history } : request;
    const answer = await follow(callStream("ask", body, talk.stop.signal), reply);
    show(reply, ...presentAnswer(answer), presentRating(answer, true));
    say(`${tellStatus(answer)}. ${answer.text}`);
    talk.history = [...talk.history, request.question, answer.text].slice(-REMEMBERED);
  } catch (error) {
    const again = () => {
      turn.remove();
      askOnce(talk, request);
    };
    const stopped = "Stopped before the answer was checked; nothing of it is kept.";
    const note = make("p", { class: "note" }, stopped);
    show(reply, error.name === "AbortError" ? note : failure(error, again));
  }
  talk.stop = null;
  talk.send.textContent = "Ask";
}

/** Shows a stream as it comes; gives the answer at its end. Throws what the service says. */
async function follow(events, reply) {
  const prose = make("div", { class: "prose draft", dir: "auto" });
  for await (const { name, data } of events) {
    if (name === "sources") show(reply, waiting(tellSources(data)), prose);
    if (name === "token") prose.append(data.text);
    if (name === "citation") reply.firstChild.textContent = "Checking each claim …";
    if (name === "error") throw new ServiceError(0, data.error ?? data);
    if (name === "answer") return data;
  }
  throw new ServiceError(0, { message: "The answer broke off.", hint: "Ask again." });
}

function tellSources(data) {
  const sources = data.sources ?? data;
  return `Reading ${count(sources.length, "passage")} …`;
}
