// Questions to `likely serve`: ask(path, body, {signal, progress}) gives what the service answers, or throws a Refusal.

class Refusal extends Error {
  constructor(message, status = 0) {
    super(message);
    this.status = status;
  }
}

const KEY = "likely-token";

function keptToken() {
  try {
    return sessionStorage.getItem(KEY) ?? "";
  } catch {
    return ""; // a browser that keeps nothing
  }
}

function keepToken(token) {
  try {
    sessionStorage.setItem(KEY, token);
  } catch {
    // then it is asked for again
  }
}

// A transport whose addresses are beside the page's own.
function overHttp(base = document.baseURI) {
  return async function ask(path, body, { signal, progress } = {}) {
    const headers = { accept: progress ? "application/x-ndjson" : "application/json" };
    const token = keptToken();
    if (token) headers.authorization = `Bearer ${token}`;
    if (body !== undefined) headers["content-type"] = "application/json";
    const address = new URL(path.replace(/^\//, ""), base);
    const options = { method: body === undefined ? "GET" : "POST", headers, signal, body: body && JSON.stringify(body) };
    let response;
    try {
      response = await fetch(address, options);
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Refusal("The service does not answer. Is it still running?");
    }
    if (!response.ok) throw new Refusal(await sentenceOf(response), response.status);
    const kind = response.headers.get("content-type") ?? "";
    if (kind.startsWith("application/x-ndjson")) return lastOf(response, progress);
    return kind.startsWith("application/json") ? response.json() : response.text();
  };
}

async function sentenceOf(response) {
  try {
    const { error } = await response.json();
    if (typeof error === "string") return error;
  } catch {
    // not JSON: an error of something in between
  }
  if (response.status === 503 || response.status === 429) return "The service is busy. Please try again in a moment.";
  return `The service answered with an error (${response.status}).`;
}

// The result at the end of lines of JSON; those before it are progress.
async function lastOf(response, progress) {
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let last = null;
  for (let done = false; !done; ) {
    const part = await reader.read();
    done = part.done;
    text += decoder.decode(part.value, { stream: !done });
    const lines = text.split("\n");
    text = done ? "" : lines.pop();
    for (const line of lines.filter((each) => each.trim())) {
      last = JSON.parse(line);
      if (last.progress) progress(last.progress);
    }
  }
  if (last?.result) return last.result;
  if (last?.error) throw new Refusal(last.error, last.status ?? 422);
  throw new Refusal("The service ended before it had an answer. Please try again.");
}

export { Refusal, keepToken, overHttp };
