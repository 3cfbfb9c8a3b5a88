// The folders that the library is kept equal to, each with a way to look into it again.

import { call } from "./api.js";
import { make, say, show } from "./dom.js";
import { followJob } from "./jobs.js";
import { failure } from "./states.js";
import { count, tellTime } from "./text.js";

/**
 * The folders as a fold, or nothing where there are none.
 * @param {Array<object>} sources
 * @param {boolean} maySync
 * @param {() => void} done what is called when a folder was synced
 */
export function presentFolders(sources, maySync, done) {
  if (sources.length === 0) return null;
  const rows = sources.map((source) => presentFolder(source, maySync, done));
  const summary = make("summary", {}, count(sources.length, "synced folder"));
  return make("details", { class: "folders" }, summary, make("ul", { class: "shelf" }, ...rows));
}

function presentFolder({ name, location, documents, synced_at }, maySync, done) {
  const told = make("div", { class: "told" });
  const sync = async () => {
    try {
      const { job_id } = await call("sources/sync", { method: "POST", query: { name } });
      const tell = (job) =>
        show(told, job.total ? `${job.done} of ${job.total} files` : "looking …");
      const job = await followJob(job_id, tell);
      show(told, presentReport(job));
      say("Synced");
      if (!job.error && !job.report.failed?.length) done();
    } catch (error) {
      show(told, failure(error));
    }
  };
  const button = make(
    "button",
    {
      type: "button",
      class: "quiet",
      "aria-label": `Sync again: ${name}`,
      "data-focus": `sync ${name}`,
      onclick: sync,
    },
    "Sync again",
  );
  return make(
    "li",
    {},
    make("div", { class: "names" }, make("span", { class: "id" }, location)),
    make(
      "p",
      { class: "facts" },
      make("span", {}, count(documents, "document")),
      synced_at && make("span", {}, `synced ${tellTime(synced_at)}`),
    ),
    make("div", { class: "actions" }, maySync && button, told),
  );
}

function presentReport({ report, error }) {
  if (error) return make("p", { class: "grave" }, error.message);
  const failed = report.failed ?? [];
  const lines = failed.map(({ id, message }) =>
    make("li", {}, make("span", { class: "id" }, id), ` ${message}`),
  );
  if (failed.length === 0) return make("p", {}, "Up to date.");
  return make(
    "div",
    {},
    make("p", {}, `${count(failed.length, "file")} could not be read:`),
    make("ul", { class: "failures" }, ...lines),
  );
}
