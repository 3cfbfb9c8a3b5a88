// What can be changed of a document: archived, who may see it, deleted.

import { call } from "./api.js";
import { make, say, show } from "./dom.js";
import { failure } from "./states.js";

/**
 * The buttons of a document.
 * @param {object} info as it is listed
 * @param {() => void} done what is called after a change
 * @param {() => void} [gone] what is called when it is deleted
 */
export function makeActions(info, done, gone = done) {
  const told = make("div", { class: "told" });
  const change = async (words, options, after = done) => {
    try {
      await call("documents", { query: { id: info.id }, ...options });
      say(words);
      after();
    } catch (error) {
      show(told, failure(error));
    }
  };
  const archived = !info.archived;
  const archive = () =>
    change(archived ? "Archived" : "Back from the archive", {
      method: "PATCH",
      body: { archived },
    });
  const name = (words) => `${words} ${info.title ?? info.id}`;
  const button = (act, words, onclick, kind = "quiet") =>
    make(
      "button",
      {
        type: "button",
        class: kind,
        "aria-label": name(words),
        "data-focus": `${act} ${info.id}`,
        onclick,
      },
      words,
    );
  return make(
    "div",
    { class: "actions" },
    button("archive", archived ? "Archive" : "Unarchive", archive),
    button("access", "Access", () => askAccess(info, change)),
    button("delete", "Delete", () => askDelete(info, change, gone), "quiet grave"),
    told,
  );
}

function askAccess(info, change) {
  const open = make("input", { type: "radio", name: "who", id: "who-all" });
  const some = make("input", { type: "radio", name: "who", id: "who-some" });
  const names = make("input", {
    type: "text",
    id: "who-names",
    autocomplete: "off",
    placeholder: "group:people, user:ann",
  });
  (info.allow === null ? open : some).checked = true;
  names.value = (info.allow ?? []).join(", ");
  names.addEventListener("input", () => (some.checked = true));
  const set = () => {
    const allow = names.value
      .split(",")
      .map((one) => one.trim())
      .filter(Boolean);
    change("Access changed", { method: "PATCH", body: { allow: open.checked ? null : allow } });
  };
  askFirst(`Who may see ${info.title ?? info.id}?`, "Set access", set, [
    make(
      "div",
      { class: "tick" },
      open,
      make("label", { for: "who-all" }, "Everyone who reads this library"),
    ),
    make(
      "div",
      { class: "tick" },
      some,
      make("label", { for: "who-some" }, "Only these, none for the owner alone:"),
    ),
    make("label", { for: "who-names" }, "Users and groups, with commas"),
    names,
  ]);
}

function askDelete(info, change, gone) {
  const erase = make("input", { type: "checkbox", id: "erase" });
  const remove = () =>
    change("Deleted", { method: "DELETE", query: { id: info.id, purge: erase.checked } }, gone);
  askFirst(`Delete ${info.title ?? info.id}?`, "Delete", remove, [
    make(
      "p",
      {},
      "It is found no more from now on. Earlier versions of the library keep it until they are vacuumed.",
    ),
    make("p", { class: "id" }, info.id),
    make(
      "div",
      { class: "tick" },
      erase,
      make("label", { for: "erase" }, "Erase it from earlier versions too"),
    ),
  ]);
}

/** Asks in a dialog; only its main button does anything. */
function askFirst(title, words, act, content) {
  const dialog = make("dialog", {
    class: "ask-first",
    "aria-labelledby": "first-title",
    onclose: () => dialog.remove(),
  });
  const submit = (event) => {
    event.preventDefault();
    dialog.close();
    act();
  };
  dialog.append(
    make(
      "form",
      { onsubmit: submit },
      make("h2", { id: "first-title" }, title),
      ...content,
      make(
        "div",
        { class: "row" },
        make("button", { type: "button", onclick: () => dialog.close() }, "Cancel"),
        make("button", { class: words === "Delete" ? "main grave" : "main" }, words),
      ),
    ),
  );
  document.body.append(dialog);
  dialog.showModal();
}
