// The service: requests with the reader's key, errors as it tells them, streams as they come.

const KEY = "ibid-key";

/** What the service answered instead of a result. */
export class ServiceError extends Error {
  constructor(status, { type, message, hint } = {}) {
    super(message ?? `the service answered ${status}`);
    this.status = status;
    this.type = type ?? "Error";
    this.hint = hint ?? "";
  }
}

/** The key that requests carry, for as long as the tab is open; null takes it away. */
export function setKey(key) {
  if (key) sessionStorage.setItem(KEY, key);
  else sessionStorage.removeItem(KEY);
}

/** Whether a key is set. */
export function hasKey() {
  return sessionStorage.getItem(KEY) !== null;
}

/**
 * The JSON that a request gives. Throws a ServiceError.
 * @param {string} path such as "documents"
 * @param {{method?: string, query?: Record<string, any>, body?: object, signal?: AbortSignal}} [options]
 */
export async function call(path, { method = "GET", query = {}, body, signal } = {}) {
  const response = await request(path, { method, query, body, signal, accept: "application/json" });
  return response.status === 204 ? null : response.json();
}

/** What a request gives as it is, such as a page to save. Throws a ServiceError. */
export async function callBlob(path, accept, query = {}) {
  const response = await request(path, { query, accept });
  return response.blob();
}

/** An image as a `data:` address: a request for it carries the key, which an `img` can't. */
export async function callImage(path, query) {
  const reader = new FileReader();
  reader.readAsDataURL(await callBlob(path, "image/png", query));
  await new Promise((done) => reader.addEventListener("load", done));
  return reader.result;
}

/** The events of a stream, each with its name and its data, as they come. */
export async function* callStream(path, body, signal) {
  const accept = "text/event-stream";
  const response = await request(path, { method: "POST", body, signal, accept });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      held = (held + value).replaceAll("\r\n", "\n");
      const events = held.split("\n\n");
      held = events.pop();
      yield* events.map(readEvent).filter(Boolean);
    }
  } finally {
    reader.cancel().catch(() => {}); // who stops listening frees the connection
  }
}

/**
 * Sends a file, and says how much of it has gone, from 0 to 1; gives the JSON of the service.
 * (fetch can't tell the progress of what it sends.)
 */
export function sendFile(method, path, query, file, onProgress) {
  const sent = new XMLHttpRequest();
  const form = new FormData();
  form.append("file", file);
  return new Promise((resolve, reject) => {
    sent.upload.addEventListener("progress", (event) => onProgress(event.loaded / event.total));
    sent.addEventListener("error", () => reject(unreachable()));
    sent.addEventListener("load", () => {
      const told = parse(sent.responseText);
      if (sent.status < 300) resolve(told);
      else reject(new ServiceError(sent.status, told.error));
    });
    sent.open(method, address(path, query));
    for (const [name, value] of Object.entries(withKey({}))) sent.setRequestHeader(name, value);
    sent.send(form);
  });
}

async function request(path, { method = "GET", query = {}, body, signal, accept }) {
  const headers = withKey({ Accept: accept });
  if (body) headers["Content-Type"] = "application/json";
  const sent = { method, headers, signal, body: body && JSON.stringify(body) };
  let response;
  try {
    response = await fetch(address(path, query), sent);
  } catch (error) {
    throw error.name === "AbortError" ? error : unreachable();
  }
  if (!response.ok) throw new ServiceError(response.status, parse(await response.text()).error);
  return response;
}

function address(path, query) {
  const url = new URL(`v1/${path}`, document.baseURI);
  for (const [name, value] of Object.entries(query)) {
    if (value !== null && value !== undefined) url.searchParams.append(name, value);
  }
  return url;
}

function withKey(headers) {
  const key = sessionStorage.getItem(KEY);
  return key === null ? headers : { ...headers, Authorization: `Bearer ${key}` };
}

function readEvent(lines) {
  const event = { name: "message", data: "" };
  for (const line of lines.split("\n")) {
    if (line.startsWith("event:")) event.name = line.slice(6).trim();
    if (line.startsWith("data:")) event.data += line.slice(5);
  }
  return event.data && { name: event.name, data: parse(event.data) };
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

function unreachable() {
  return new ServiceError(0, {
    type: "Unreachable",
    message: "The service can't be reached.",
    hint: "See whether it runs, and try again.",
  });
}
