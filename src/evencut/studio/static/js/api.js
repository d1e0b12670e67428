// The way to the server: JSON for small things, typed arrays for points and labels, a stream of events for work.

import { authorization } from "./token.js";

export class ApiError extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

async function checked(response) {
  if (response.ok) return response;
  let detail = `the server answered ${response.status}`;
  try {
    detail = (await response.json()).detail ?? detail;
  } catch {
    // not JSON: the status must do
  }
  throw new ApiError(detail, response.status);
}

async function ask(path, options) {
  try {
    return await checked(await fetch(path, { ...options, headers: { ...options?.headers, ...authorization() } }));
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError("the studio does not answer; is `evencut studio` still running?", 0);
  }
}

const jsonBody = (body) => ({ headers: { "content-type": "application/json" }, body: JSON.stringify(body ?? {}) });

export async function about() {
  return (await ask("/api/about")).json();
}

export async function createSession() {
  return (await (await ask("/api/sessions", { method: "POST" })).json()).id;
}

/** Everything one session can ask. */
export class Api {
  constructor(session) {
    this.session = session;
    this.base = `/api/sessions/${encodeURIComponent(session)}`;
  }

  url(path) {
    return this.base + path;
  }

  async get(path) {
    return (await ask(this.url(path))).json();
  }

  async send(method, path, body) {
    const response = await ask(this.url(path), { method, ...jsonBody(body) });
    return response.status === 204 ? null : response.json();
  }

  post(path, body) {
    return this.send("POST", path, body);
  }

  put(path, body) {
    return this.send("PUT", path, body);
  }

  delete(path) {
    return this.send("DELETE", path);
  }

  async bytes(path, bytes) {
    return (await ask(this.url(path), { method: "POST", body: bytes })).json();
  }

  /** A typed array, with what the server says about it. */
  async array(path, Type, options) {
    const response = await ask(this.url(path), options);
    const header = response.headers.get("x-evencut");
    return { values: new Type(await response.arrayBuffer()), about: header ? JSON.parse(header) : {} };
  }

  /** A typed array in answer to a question. */
  askArray(path, body, Type) {
    return this.array(path, Type, { method: "POST", ...jsonBody(body) });
  }

  /** The kernels with their parameters, which are the same for all sessions. */
  async kernels() {
    return (await ask("/api/kernels")).json();
  }

  /** Said while the page goes away; a page that is loaded again takes it back by its next question. */
  leave() {
    fetch(this.url("/leave"), { method: "POST", keepalive: true, headers: authorization() }).catch(() => {});
  }

  async blob(path) {
    return (await ask(this.url(path))).blob();
  }

  /** A file, under the name that the studio gives it. */
  async file(path) {
    const response = await ask(this.url(path));
    const name = /filename="([^"]+)"/.exec(response.headers.get("content-disposition") ?? "")?.[1] ?? path.split("/").at(-1);
    return [await response.blob(), name];
  }

  /** Send a file, telling the share that has left. */
  upload(path, file, onshare, more = {}) {
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open("POST", `${this.url(path)}?${new URLSearchParams({ name: file.name, ...more })}`);
      for (const [name, value] of Object.entries(authorization())) request.setRequestHeader(name, value);
      request.responseType = "text";
      request.upload.onprogress = (event) => event.lengthComputable && onshare?.(event.loaded / event.total);
      request.onerror = () => reject(new ApiError("the upload was refused or broken off; the file may be too large.", 0));
      request.onload = () => {
        let answer = {};
        try {
          answer = JSON.parse(request.responseText);
        } catch {
          // the status must do
        }
        if (request.status < 300) resolve(answer);
        else reject(new ApiError(answer.detail ?? `the server answered ${request.status}`, request.status));
      };
      request.send(file);
    });
  }

  /** Follow a job to its end: its result, or an error. */
  async follow(job, onprogress) {
    const response = await ask(this.url(`/jobs/${job}/events`));
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    let last = null;
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      text += value;
      const parts = text.split("\n\n");
      text = parts.pop();
      for (const part of parts) {
        if (!part.startsWith("data:")) continue;
        const event = JSON.parse(part.slice(5));
        if (event.kind === "progress") onprogress?.(event.step, event.share);
        else last = event;
      }
    }
    if (last === null) throw new ApiError("the connection to the studio was lost.", 0);
    if (last.kind === "done") return last.result;
    throw new ApiError(last.detail, last.kind === "cancelled" ? "cancelled" : last.status);
  }

  stop(job) {
    return this.delete(`/jobs/${job}`);
  }
}

/** Work of a tab, one job at a time; the others wait in line. */
export class Work {
  /** settled(): waits until all that was done before is told, so that it can be undone by itself. */
  constructor(api, show, settled) {
    Object.assign(this, { api, show, settled });
    this.line = Promise.resolve();
    this.current = null;
    this.waiting = 0;
  }

  get busy() {
    return this.waiting > 0;
  }

  /** Begin a job when its turn comes; `start` posts the request that creates it. */
  run(name, start) {
    const turn = this.line.then(async () => {
      this.show({ name, step: "", share: null });
      try {
        await this.settled();
        const job = await start();
        this.current = job.id;
        return await this.api.follow(job.id, (step, share) => this.show({ name, step, share }));
      } finally {
        this.current = null;
      }
    });
    this.line = turn.catch(() => {});
    return this.during(() => turn);
  }

  /** Several jobs that belong together: the sign of work stays between them. */
  async during(act) {
    this.waiting += 1;
    try {
      return await act();
    } finally {
      this.waiting -= 1;
      if (!this.busy) this.show(null);
    }
  }

  /** Listen to a job that was begun before this page was loaded. */
  resume(job) {
    return this.run(job.name, async () => job);
  }

  async stop() {
    if (this.current) await this.api.stop(this.current);
  }
}
