// Files that a reader adds: sent one by one, followed until they are read, each failure with its reason.

import { sendFile } from "./api.js";
import { make, say, show } from "./dom.js";
import { followJob } from "./jobs.js";
import { count } from "./text.js";

/**
 * The place to give files.
 * @param {string} prefix what the ids begin with that this reader may write
 * @param {() => void} done what is called when something came in
 */
export function makeUpload(prefix, done) {
  const field = make("input", { id: "files", type: "file", multiple: true });
  const folder = make("input", {
    id: "folder",
    type: "text",
    autocomplete: "off",
    placeholder: "handbook/",
  });
  folder.value = prefix;
  const overwrite = make("input", { id: "overwrite", type: "checkbox" });
  const list = make("ul", { class: "sent", "aria-label": "Files sent" });
  const send = (files) =>
    sendAll([...files], { folder: folder.value.trim(), overwrite: overwrite.checked, list, done });
  field.addEventListener("change", () => {
    send(field.files);
    field.value = "";
  });
  const drop = make(
    "div",
    { class: "drop" },
    make("p", {}, make("label", { for: "files" }, "Add files"), " or drop them here"),
    field,
    make(
      "details",
      { class: "options" },
      make("summary", {}, "Options"),
      make(
        "div",
        { class: "fields" },
        make("div", {}, make("label", { for: "folder" }, "Folder"), folder),
        make(
          "div",
          { class: "tick" },
          overwrite,
          make("label", { for: "overwrite" }, "Overwrite documents of the same name"),
        ),
      ),
    ),
  );
  drop.addEventListener("dragover", (event) => {
    event.preventDefault();
    drop.classList.add("over");
  });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    send(event.dataTransfer.files);
  });
  return make("section", { class: "upload", "aria-label": "Add documents" }, drop, list);
}

async function sendAll(files, { folder, overwrite, list, done }) {
  let added = 0;
  for (const file of files) {
    const id = [folder.replace(/\/+$/, ""), file.name].filter(Boolean).join("/");
    const row = makeRow(id);
    list.prepend(row.element);
    added += await sendOne(file, id, overwrite ? "PUT" : "POST", row);
  }
  say(`${count(added, "document")} added, ${files.length - added} failed`);
  if (added) done();
}

function makeRow(id) {
  const bar = make("progress", { max: "1", value: "0", "aria-label": `Sending ${id}` });
  const told = make("span", { class: "told" }, "sending");
  const element = make("li", {}, make("span", { class: "id" }, id), bar, told);
  const end = (kind, ...words) => {
    element.className = kind;
    bar.remove();
    show(told, ...words);
  };
  return { element, bar, told, end };
}

/** Sends a file and follows it; gives how many documents came of it: 1 or 0. */
async function sendOne(file, id, method, row) {
  try {
    const { job_id } = await sendFile(
      method,
      "documents",
      { id },
      file,
      (part) => (row.bar.value = part),
    );
    row.told.textContent = "reading";
    row.bar.removeAttribute("value");
    return tellEnd(await followJob(job_id), row);
  } catch (error) {
    const hint = error.status === 409 ? "the options above let it be overwritten" : error.hint;
    row.end("failed", `failed: ${error.message}`, hint && ` (${hint})`);
    return 0;
  }
}

function tellEnd({ report, error }, row) {
  const problem = error ?? report.failed?.[0];
  if (problem) {
    row.end("failed", `failed: ${problem.message}`);
    return 0;
  }
  const skipped = report.skipped?.[0];
  if (skipped) {
    row.end("failed", `left out: ${skipped.reason}`);
    return 0;
  }
  row.end("done", "added");
  return 1;
}
