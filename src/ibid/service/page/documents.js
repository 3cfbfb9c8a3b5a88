// The documents: what the library holds for this reader, and one of them whole.

import { call } from "./api.js";
import { makeActions } from "./changes.js";
import { make, show } from "./dom.js";
import { presentBody } from "./reading.js";
import { fillWith, nothing } from "./states.js";
import { count, tellDay } from "./text.js";
import { makeUpload } from "./upload.js";

/** Fills a place with the list. */
export function showDocuments(place) {
  const list = make("div");
  const load = () => fillWith(list, "Fetching the list …", () => presentList(load));
  show(place, make("h1", {}, "Documents"), makeUpload(load), list);
  load();
}

/** Fills a place with one document, named in the address. */
export function showDocument(place, query) {
  const id = query.get("id");
  const load = () => fillWith(place, "Fetching the document …", () => presentDocument(id, load));
  load();
}

async function presentList(load) {
  const { documents } = await call("documents");
  if (documents.length === 0) {
    return [nothing("No documents here yet.", make("p", {}, "Add a file above, or sync a folder: "), make("code", {}, "ibid sync handbook/"))];
  }
  const rows = documents.map((info) => ({ info, element: presentRow(info, load) }));
  const told = make("p", { class: "count", role: "status" }, count(documents.length, "document"));
  const field = make("input", { id: "narrow", type: "search", autocomplete: "off" });
  field.addEventListener("input", () => {
    const wanted = field.value.trim().toLowerCase();
    const fits = ({ id, title }) => `${id}\n${title ?? ""}`.toLowerCase().includes(wanted);
    for (const { info, element } of rows) element.hidden = !fits(info);
    const left = rows.filter(({ element }) => !element.hidden).length;
    told.textContent = wanted ? `${left} of ${count(rows.length, "document")}` : count(rows.length, "document");
  });
  return [
    make("div", { class: "narrow" }, make("label", { for: "narrow" }, "Find by name"), field, told),
    make("ul", { class: "shelf" }, ...rows.map(({ element }) => element)),
  ];
}

function presentRow(info, load) {
  const address = `#/document?${new URLSearchParams({ id: info.id })}`;
  return make(
    "li",
    { class: info.archived && "archived" },
    make("div", { class: "names" },
      make("a", { href: address, dir: "auto" }, info.title ?? info.id),
      make("span", { class: "id" }, info.id),
    ),
    make("p", { class: "facts" }, ...presentFacts(info)),
    makeActions(info, load),
  );
}

function presentFacts(info) {
  const tags = Object.entries(info.tags).map(([name, value]) => `${name}: ${value}`);
  const facts = [tellAccess(info.allow), info.archived && "archived", tellDay(info.modified_at), count(info.passages, "passage"), ...tags];
  return facts.filter(Boolean).map((fact) => make("span", {}, fact));
}

/** Who may see a document, in words. */
function tellAccess(allow) {
  if (allow === null) return "public";
  return allow.length ? `only ${allow.join(", ")}` : "only the owner";
}

async function presentDocument(id, load) {
  const found = await call("documents", { query: { id } });
  return [
    make("p", { class: "back" }, make("a", { href: "#/documents" }, "← All documents")),
    make("h1", { dir: "auto" }, found.title ?? found.id),
    make("p", { class: "id" }, found.id),
    make("p", { class: "facts" }, ...presentFacts({ ...found, passages: countPassages(found) })),
    makeActions(found, load),
    presentBody(found, 1).element,
  ];
}

function countPassages({ passages }) {
  return Array.isArray(passages) ? passages.length : passages;
}
