// The page: which view an address names, and what stands around them all.

import { hasKey, setKey } from "./api.js";
import { showAsk } from "./ask.js";
import { make, show } from "./dom.js";
import { showDocument, showDocuments } from "./documents.js";
import { showEvaluation } from "./evaluation.js";
import { showHistory, showKept } from "./history.js";
import { showLab } from "./lab.js";

/** View by its name in the address: title, what fills the main part with it, where it belongs. */
const VIEWS = {
  ask: ["Ask", showAsk, "ask"],
  documents: ["Documents", showDocuments, "documents"],
  document: ["Document", showDocument, "documents"],
  history: ["History", showHistory, "history"],
  evaluation: ["Evaluation", showEvaluation, "evaluation"],
  lab: ["Lab", showLab, "lab"],
  answer: ["Answer", showKept, "history"],
};

const main = document.getElementById("view");
let leave = () => {};

/** Shows the view of the address, and sets the keyboard at its beginning. */
function route(event) {
  const [, name = "ask", query = ""] = location.hash.match(/^#\/(\w+)\??(.*)$/) ?? [];
  const [title, view, home] = VIEWS[name] ?? VIEWS.ask;
  document.title = `${title} · ibid.`;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#/${home}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  leave();
  document.querySelectorAll("dialog").forEach((dialog) => dialog.remove());
  const place = make("div", { class: `view ${name}` });
  show(main, place);
  leave = view(place, new URLSearchParams(query)) ?? (() => {});
  window.scrollTo(0, 0);
  if (event) main.focus({ preventScroll: true });
}

/** Shows whether a key is set, with the way to forget it. */
function showKey() {
  const forget = () => {
    setKey(null);
    showKey();
    route();
  };
  const button = make(
    "button",
    { type: "button", class: "quiet", onclick: forget },
    "Forget the key",
  );
  show(document.getElementById("key"), hasKey() && button);
}

window.addEventListener("hashchange", route);
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
document.addEventListener("key", showKey);
showKey();
route();
