// The verdicts in words: what each is called, its sign, and how grave it is.

import { make } from "./dom.js";

/** By the service's own name; the gravest of a claim's citations speaks for it. */
export const VERDICTS = {
  supported: { words: "supported", sign: "✓", gravity: 0 },
  "supported-elsewhere": { words: "supported elsewhere", sign: "≈", gravity: 1 },
  uncited: { words: "uncited", sign: "○", gravity: 2 },
  unsupported: { words: "unsupported", sign: "✗", gravity: 3 },
  "no-such-source": { words: "no such source", sign: "✗", gravity: 4 },
};

/** The words of a status, as a heading says them. */
export const STATUSES = {
  answered: "Answered",
  abstained: "No answer in the documents",
  withheld: "Withheld: its sources are no longer yours to see",
};

/**
 * The claims of an answer in their order, each with its citations and its verdict.
 * @param {Array<object>} citations
 */
export function gatherClaims(citations) {
  const claims = new Map();
  for (const citation of citations) {
    const { start, end } = citation.claim;
    const key = `${start}-${end}`;
    if (!claims.has(key)) claims.set(key, { start, end, citations: [] });
    claims.get(key).citations.push(citation);
  }
  const ordered = [...claims.values()].sort((one, other) => one.start - other.start);
  for (const claim of ordered) {
    const grave = (one, other) => (gravity(other) > gravity(one) ? other : one);
    claim.verdict = claim.citations.map((one) => one.verdict).reduce(grave);
  }
  return ordered;
}

/** How many claims came out how: "2 claims supported, 1 unsupported". */
export function tellVerdicts(claims) {
  const counts = new Map();
  for (const { verdict } of claims) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  const parts = [...counts].map(([verdict, number], place) => {
    const noun = place ? "" : number === 1 ? " claim" : " claims";
    return `${number}${noun} ${VERDICTS[verdict].words}`;
  });
  return parts.join(", ");
}

/** The verdict of a claim in small capitals, with its sign. */
export function presentVerdict(verdict) {
  const { words, sign } = VERDICTS[verdict];
  return make(
    "span",
    { class: "verdict", "data-verdict": verdict },
    make("span", { "aria-hidden": "true" }, `${sign} `),
    words,
  );
}

function gravity(verdict) {
  return VERDICTS[verdict].gravity;
}
