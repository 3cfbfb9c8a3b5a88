// Evaluations: golden questions put to the library, and how well they were found and answered.

import { call, callBlob, sendFile, ServiceError } from "./api.js";
import { make, say, show } from "./dom.js";
import { drawRecall, presentCauses, presentMeasures } from "./figures.js";
import { followJob } from "./jobs.js";
import { listQuestions } from "./questions.js";
import { failure, fillWith, nothing } from "./states.js";
import { count, tellTime } from "./text.js";

const EARLIER = 50; // evaluations that are listed
const RETRIEVAL = ["recall", "hit", "precision", "mrr", "map", "ndcg"];

/** Fills a place with the ways to begin one, or with the one that the address names. */
export function showEvaluation(place, query) {
  const id = query.get("job");
  const leaving = new AbortController();
  if (id) showRun(place, id, leaving.signal);
  else showStart(place);
  return () => leaving.abort();
}

function showStart(place) {
  const body = make("div");
  show(place, make("h1", {}, "Evaluation"), body);
  fillWith(body, "Fetching the evaluations …", async () => {
    const { caller } = await call("status");
    if (!caller.scopes.includes("admin"))
      return [nothing("Evaluating is for those who keep this library.")];
    const { jobs } = await call("jobs", { query: { kind: "evaluate", most: EARLIER } });
    const words = `Most wrong answers were lost before a word of them was written. Golden questions
      tell how often, and at which stage.`;
    return [make("p", { class: "lead" }, words), makeForm(), ...presentEarlier(jobs)];
  });
}

function makeForm() {
  const own = make("input", { type: "radio", name: "set", id: "set-own", checked: true });
  const other = make("input", { type: "radio", name: "set", id: "set-file" });
  const file = make("input", { type: "file", id: "golden-file", accept: ".jsonl,.ndjson,.txt" });
  const answers = make("input", { type: "checkbox", id: "with-answers", checked: true });
  const told = make("div", { class: "told" });
  file.addEventListener("change", () => (other.checked = file.files.length > 0));
  const start = async (event) => {
    event.preventDefault();
    if (other.checked && file.files.length === 0) return file.focus();
    try {
      const query = { wait: 0, answers: answers.checked };
      const sent = other.checked
        ? sendFile("POST", "evaluate", query, file.files[0], () => {})
        : call("evaluate", { method: "POST", query });
      const { job_id } = await sent;
      location.hash = `#/evaluation?${new URLSearchParams({ job: job_id })}`;
    } catch (error) {
      show(told, failure(error));
    }
  };
  const tick = (input, words) =>
    make("div", { class: "tick" }, input, make("label", { for: input.id }, words));
  return make(
    "form",
    { class: "evaluate-form", onsubmit: start },
    make(
      "fieldset",
      {},
      make("legend", {}, "The golden questions"),
      tick(own, "of this library: answers that were made golden cases, and its file of them"),
      tick(other, "of a file, one JSON object on each line"),
      make("label", { for: "golden-file", class: "unseen" }, "File of golden questions"),
      file,
    ),
    tick(answers, "Have them answered too, not only searched"),
    make("button", { class: "main" }, "Evaluate"),
    told,
  );
}

function presentEarlier(jobs) {
  if (jobs.length === 0) return [];
  const rows = jobs.map(({ job_id, state, created_at, report, error }) =>
    make(
      "li",
      {},
      make(
        "a",
        { href: `#/evaluation?${new URLSearchParams({ job: job_id })}` },
        tellTime(created_at),
      ),
      make("p", { class: "facts" }, ...presentGist(state, report, error)),
    ),
  );
  return [make("h2", {}, "Earlier ones"), make("ol", { class: "log" }, ...rows)];
}

function presentGist(state, report, error) {
  if (error) return [make("span", { class: "grave" }, error.message)];
  if (state !== "done") return [make("span", {}, state)];
  const deepest = Math.max(...report.k);
  const recall = report.retrieval[`recall@${deepest}`];
  return [
    make("span", {}, count(report.queries, "question")),
    recall && make("span", {}, `recall at ${deepest}: ${recall.mean.toFixed(3)}`),
    make("span", {}, count(report.failures.length, "failure")),
  ];
}

// -- one evaluation -------------------------------------------------------------------------------

function showRun(place, id, leaving) {
  const body = make("div", { class: "run" });
  const back = make("a", { href: "#/evaluation" }, "← All evaluations");
  show(place, make("p", { class: "back" }, back), make("h1", {}, "Evaluation"), body);
  const bar = make("progress", { "aria-label": "Questions done" });
  const told = make("p", { class: "waiting" }, "Waiting for its turn …");
  const tell = ({ state, done, total }) => {
    if (state !== "running" || total === 0) return;
    [bar.max, bar.value] = [total, done];
    told.textContent = `${done} of ${count(total, "question")} …`;
  };
  const load = async () => {
    show(body, told, bar);
    const job = await followJob(id, tell, leaving);
    if (job.error) throw new ServiceError(0, job.error);
    say(`Done: ${count(job.report.queries, "question")}`);
    return presentRun(job);
  };
  fillWith(body, "Fetching the evaluation …", load);
}

function presentRun({ job_id, created_at, report }) {
  const { queries, drafts, k, retrieval, answers, causes = {}, failures } = report;
  const deepest = Math.max(...k);
  const facts = [
    tellTime(created_at),
    count(queries, "question"),
    drafts > 0 && `${count(drafts, "draft")} left out`,
    count(failures.length, "failure"),
  ];
  const found = Object.fromEntries(
    RETRIEVAL.map((name) => [`${name}@${deepest}`, retrieval[`${name}@${deepest}`]]),
  );
  const questions = make("div");
  const [searched, answered] = [retrieval, answers].map((all) => Object.keys(all).length > 0);
  fillWith(questions, "Fetching the questions …", () => listQuestions(job_id, deepest));
  return [
    make("p", { class: "facts" }, ...facts.filter(Boolean).map((one) => make("span", {}, one))),
    make("p", { class: "lead" }, "Intervals are 95%, by bootstrap; n is how many questions count."),
    searched &&
      make(
        "div",
        { class: "pair" },
        presentMeasures("Retrieval", found),
        make(
          "figure",
          {},
          make("figcaption", {}, make("h2", {}, "Recall by rank")),
          drawRecall(
            k,
            k.map((rank) => retrieval[`recall@${rank}`]),
          ),
        ),
      ),
    answered && presentMeasures("Answers", answers),
    Object.keys(causes).length > 0 && presentCauses(causes, queries),
    make("h2", {}, "Questions, the worst first"),
    questions,
    makeSaving(job_id),
  ].filter(Boolean);
}

/** A button that saves the evaluation as one page to give away. */
function makeSaving(id) {
  const told = make("div", { class: "told" });
  const save = async () => {
    try {
      const page = await callBlob(`evaluate/${encodeURIComponent(id)}/report.html`, "text/html");
      const link = make("a", {
        href: URL.createObjectURL(page),
        download: `evaluation-${id}.html`,
      });
      link.click();
      URL.revokeObjectURL(link.href);
    } catch (error) {
      show(told, failure(error));
    }
  };
  return make(
    "div",
    { class: "saving" },
    make("button", { type: "button", onclick: save }, "Save as a page to pass on"),
    told,
  );
}
