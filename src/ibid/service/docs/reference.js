// The reference of the service, made from its own OpenAPI document.

import { make, show } from "../dom.js";

const METHODS = ["get", "post", "put", "patch", "delete"];

/** The operations of a document by their tags, in the order of its paths. */
function group(paths) {
  const groups = new Map();
  for (const [path, item] of Object.entries(paths)) {
    for (const method of METHODS.filter((name) => item[name])) {
      const operation = { method, path, ...item[method] };
      const tag = operation.tags?.[0] ?? "others";
      groups.set(tag, [...(groups.get(tag) ?? []), operation]);
    }
  }
  return groups;
}

function showRoute(operation, schemas) {
  const body = operation.requestBody?.content ?? {};
  return make("details", { class: "route", id: operation.operationId },
    make("summary", {},
      make("span", { class: "method" }, operation.method.toUpperCase()), " ",
      make("code", {}, operation.path), " ",
      make("span", { class: "gist" }, operation.summary ?? "")),
    make("p", {}, operation.description ?? ""),
    showList("Parameters", (operation.parameters ?? []).map((one) => [one.name, tellParameter(one)])),
    ...Object.entries(body).map(([type, content]) => showBody(`Body: ${type}`, content, schemas)),
    showList("Replies", Object.entries(operation.responses).map(([status, one]) => [status, one.description])),
    ...Object.entries(operation.responses)
      .filter(([status]) => status.startsWith("2"))
      .flatMap(([status, one]) => Object.entries(one.content ?? {})
        .map(([type, content]) => showBody(`${status}: ${type}`, content, schemas))));
}

function tellParameter({ in: place, required, description, schema }) {
  return [`in the ${place}`, required ? "needed" : null, tellType(schema), description]
    .filter(Boolean).join("; ");
}

/** What a schema allows, in a word or two. */
function tellType(schema) {
  if (!schema) return "";
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.enum) return schema.enum.join(" or ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.anyOf) return schema.anyOf.map(tellType).join(" or ");
  if (schema.type === "array") return `a list of ${tellType(schema.items) || "anything"}`;
  return schema.type ?? "anything";
}

function showBody(title, content, schemas) {
  const schema = resolve(content.schema, schemas);
  const example = content.example ?? schema?.example;
  const needed = new Set(schema?.required ?? []);
  const fields = Object.entries(schema?.properties ?? {})
    .map(([name, one]) => [name, [needed.has(name) ? null : "may be left out", tellType(one), one.description]
      .filter(Boolean).join("; ")]);
  return make("section", {},
    make("h4", {}, title),
    fields.length > 0 && showList(null, fields),
    example !== undefined && make("pre", { tabindex: "0" }, JSON.stringify(example, null, 2)));
}

function resolve(schema, schemas) {
  return schema?.$ref ? schemas[schema.$ref.split("/").pop()] : schema;
}

function showList(title, pairs) {
  if (pairs.length === 0) return null;
  return make("div", {},
    title && make("h4", {}, title),
    make("dl", {}, ...pairs.flatMap(([name, words]) => [make("dt", {}, name), make("dd", {}, words)])));
}

async function start() {
  const view = document.getElementById("view");
  const reply = await fetch("../openapi.json");
  if (!reply.ok) {
    show(view, make("p", { class: "note" }, "The service does not tell of itself just now."));
    return;
  }
  const { info, paths, components } = await reply.json();
  show(view,
    make("h1", {}, "The service"),
    make("p", {}, info.summary),
    ...[...group(paths)].flatMap(([tag, operations]) => [
      make("h2", {}, tag),
      ...operations.map((one) => showRoute(one, components.schemas))]));
  document.getElementById(location.hash.slice(1))?.setAttribute("open", "");
}

start();
