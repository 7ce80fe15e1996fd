// Questions to the kernel of a notebook: the same `ask` as over HTTP, as messages of the widget's model.
import { Refusal } from "./http.js";

// A transport over a model of anywidget: {id, path, body} there, {id, progress} and {id, status, body} back, {id, cancel} to stop.
function overMessages(model) {
  const waiting = new Map();
  let last = 0;
  const hear = (message) => {
    const question = waiting.get(message?.id);
    if (!question) return;
    if (message.progress) {
      question.progress?.(message.progress);
      return;
    }
    waiting.delete(message.id);
    if (message.status < 400) question.resolve(message.body);
    else question.reject(new Refusal(message.body?.error ?? "The kernel could not answer.", message.status));
  };
  model.on("msg:custom", hear);

  function ask(path, body, { signal, progress } = {}) {
    const id = ++last;
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject, progress });
      signal?.addEventListener("abort", () => {
        if (!waiting.delete(id)) return;
        model.send({ id, cancel: true });
        reject(new DOMException("A newer question was asked.", "AbortError"));
      });
      model.send({ id, path, body: body ?? null });
    });
  }
  return { ask, close: () => model.off("msg:custom", hear) };
}

export { overMessages };
