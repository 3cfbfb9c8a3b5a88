// Elements from names and strings: what comes from a model or a document only ever becomes text.

const SVG = "http://www.w3.org/2000/svg";

/**
 * An element with attributes, listeners (`onclick: …`) and children; strings become text nodes,
 * and attributes that are null, undefined or false are left out.
 * @param {string} name
 * @param {Record<string, any>} [attributes]
 * @param {...(Node | string | null | undefined | false)} children
 * @returns {HTMLElement}
 */
export function make(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** The same for a part of a picture. */
export function draw(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

/** Puts other children in place of those that an element has. */
export function show(element, ...children) {
  element.replaceChildren(...children.filter(isThere));
  return element;
}

/** Says something to those who listen to the page; the same words twice are said twice. */
export function say(words) {
  const place = document.getElementById("spoken");
  place.textContent = place.textContent === words ? `${words}\u00a0` : words;
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (!isThere(value)) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter(isThere));
  return element;
}

function isThere(value) {
  return value !== null && value !== undefined && value !== false;
}
