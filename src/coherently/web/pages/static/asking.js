// Requests to the API of the workbench, with the token of this page.
const meta = document.querySelector('meta[name="csrf-token"]');

export class Refused extends Error {
  constructor(status, problem) {
    super(problem.message);
    this.status = status;
    this.problem = problem;
  }
}

export async function ask(method, path, body, { signal, key } = {}) {
  const headers = { Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (method !== "GET" && meta) headers["X-CSRF-Token"] = meta.content;
  if (key) headers["Idempotency-Key"] = key;
  const answer = await fetch(`/api/v1${path}`, {
    method, headers, signal, credentials: "same-origin", body: body === undefined ? undefined : JSON.stringify(body),
  });
  const found = answer.status === 204 ? null : await answer.json().catch(() => null);
  if (!answer.ok) throw new Refused(answer.status, found?.error ?? { message: answer.statusText });
  return found;
}
