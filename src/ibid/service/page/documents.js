// The documents: what the library holds for this reader, and one of them whole.

import { call } from "./api.js";
import { makeActions } from "./changes.js";
import { make, show } from "./dom.js";
import { presentFolders } from "./folders.js";
import { presentBody } from "./reading.js";
import { fillWith, nothing } from "./states.js";
import { count, tellDay } from "./text.js";
import { makeUpload } from "./upload.js";

const MOST = 1000; // documents that are fetched at once

/** Fills a place with the list, and with the ways to add to it for those who may. */
export function showDocuments(place) {
  const [ways, list] = [make("div"), make("div")];
  show(place, make("h1", {}, "Documents"), ways, list);
  fillWith(ways, "Fetching the list …", async () => {
    const { caller } = await call("status");
    const load = () => fillWith(list, "Fetching the list …", () => presentList(caller, load));
    load();
    return [caller.scopes.includes("ingest") && makeUpload(caller.prefix, load)].filter(Boolean);
  });
}

/** Fills a place with one document, named in the address. */
export function showDocument(place, query) {
  const id = query.get("id");
  const [heading, body] = [make("h1", { dir: "auto" }, id), make("div")];
  const load = () =>
    fillWith(body, "Fetching the document …", () => presentDocument(id, heading, load));
  show(
    place,
    make("p", { class: "back" }, make("a", { href: "#/documents" }, "← All documents")),
    heading,
    body,
  );
  load();
}

async function presentList(caller, load) {
  const [first, { sources }] = await Promise.all([fetchFrom(0), call("sources")]);
  const folders = presentFolders(sources, caller.scopes.includes("admin"), load);
  if (first.total === 0) {
    const way = make(
      "p",
      {},
      "Add a file, or sync a folder: ",
      make("code", {}, "ibid sync handbook/"),
    );
    return [folders, nothing("No documents here yet.", way)].filter(Boolean);
  }
  return [folders, ...presentShelf(first, caller, load)].filter(Boolean);
}

function fetchFrom(offset) {
  return call("documents", { query: { offset, most: MOST } });
}

function presentShelf(first, caller, load) {
  const rows = [];
  const shelf = make("ul", { class: "shelf" });
  const told = make("p", { class: "count", role: "status" });
  const more = make("button", { type: "button" }, "Show more");
  const field = make("input", { id: "narrow", type: "search", autocomplete: "off" });
  const narrow = () => {
    const wanted = field.value.trim().toLowerCase();
    const fits = ({ id, title }) => `${id}\n${title ?? ""}`.toLowerCase().includes(wanted);
    for (const { info, element } of rows) element.hidden = !fits(info);
    const left = rows.filter(({ element }) => !element.hidden).length;
    told.textContent =
      left < first.total ? `${left} of ${count(first.total, "document")}` : count(left, "document");
  };
  const append = ({ documents }) => {
    const added = documents.map((info) => ({ info, element: presentRow(info, caller, load) }));
    rows.push(...added);
    shelf.append(...added.map(({ element }) => element));
    more.hidden = rows.length >= first.total;
    narrow();
  };
  field.addEventListener("input", narrow);
  more.addEventListener("click", async () => append(await fetchFrom(rows.length)));
  append(first);
  return [
    make("div", { class: "narrow" }, make("label", { for: "narrow" }, "Find by name"), field, told),
    shelf,
    more,
  ];
}

function presentRow(info, caller, load) {
  const address = `#/document?${new URLSearchParams({ id: info.id })}`;
  return make(
    "li",
    { class: info.archived && "archived" },
    make(
      "div",
      { class: "names" },
      make("a", { href: address, dir: "auto" }, info.title ?? info.id),
      make("span", { class: "id" }, info.id),
    ),
    make("p", { class: "facts" }, ...presentFacts(info)),
    mayWrite(caller, info) && makeActions(info, load),
  );
}

/** Whether a reader may change a document; the service asks the same again. */
function mayWrite({ scopes, prefix }, { id }) {
  return scopes.includes("ingest") && id.startsWith(prefix);
}

function presentFacts(info) {
  const tags = Object.entries(info.tags).map(([name, value]) => `${name}: ${value}`);
  const facts = [
    tellAccess(info.allow),
    info.archived && "archived",
    tellDay(info.modified_at),
    count(info.passages, "passage"),
    ...tags,
  ];
  return facts.filter(Boolean).map((fact) => make("span", {}, fact));
}

/** Who may see a document, in words. */
function tellAccess(allow) {
  if (allow === null) return "public";
  return allow.length ? `only ${allow.join(", ")}` : "only the owner";
}

async function presentDocument(id, heading, load) {
  const [found, { caller }] = await Promise.all([
    call("documents", { query: { id } }),
    call("status"),
  ]);
  heading.textContent = found.title ?? found.id;
  const leave = () => (location.hash = "#/documents");
  return [
    make("p", { class: "id" }, found.id),
    make("p", { class: "facts" }, ...presentFacts({ ...found, passages: countPassages(found) })),
    mayWrite(caller, found) && makeActions(found, load, leave),
    presentBody(found, 1).element,
  ].filter(Boolean);
}

function countPassages({ passages }) {
  return Array.isArray(passages) ? passages.length : passages;
}
