// Work of the service that goes on after its request: asked after until it is over.

import { call } from "./api.js";

const ASKING = 400; // milliseconds between two looks

/**
 * The job when it is over.
 * @param {string} id
 * @param {(job: object) => void} [tell] what is told how far it is
 * @param {AbortSignal} [signal] what ends the asking
 */
export async function followJob(id, tell = () => {}, signal = undefined) {
  for (;;) {
    const job = await call(`jobs/${encodeURIComponent(id)}`, { signal });
    if (job.state === "done" || job.state === "failed") return job;
    tell(job);
    await new Promise((go) => setTimeout(go, ASKING));
  }
}
