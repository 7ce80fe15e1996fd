// What is asked and what was answered, as signals. Every change of the question asks anew, and a newer question cancels the older.
import { batch, computed, effect, signal, untracked } from "./html.js";

// Long enough for a drag to be one question, short enough to follow at once.
const PAUSE = 120;
const EMPTY = { value: null, error: null, waiting: false, progress: null };

// A signal {value, error, waiting, progress} that follows the newest question; `tell` asks and returns a promise.
function following(pause) {
  const state = signal(EMPTY);
  let timer = 0;
  let control = null;
  function stop() {
    clearTimeout(timer);
    control?.abort();
    control = null;
  }
  async function run(tell) {
    const mine = new AbortController();
    control = mine;
    const progress = (said) => {
      if (control === mine) state.value = { ...state.value, progress: said };
    };
    try {
      const value = await tell(mine.signal, progress);
      if (control === mine) state.value = { ...EMPTY, value };
    } catch (error) {
      if (control === mine && error.name !== "AbortError") state.value = { ...EMPTY, error };
    }
  }
  function follow(tell, { keep = true, now = false } = {}) {
    stop();
    state.value = { ...EMPTY, value: keep ? state.value.value : null, waiting: true };
    timer = setTimeout(() => run(tell), now ? 0 : pause);
  }
  function clear() {
    stop();
    state.value = EMPTY;
  }
  return { state, follow, clear, stop };
}

// The state to begin with. Of one that was given, as by a link, what does not fit this explainer is left out.
function startOf(about, given) {
  const { features, classes, examples, limits } = about;
  const known = new Set(features.map(({ name }) => name));
  const fitting = (named) => Object.fromEntries(Object.entries(named ?? {}).filter(([name, value]) => known.has(name) && value !== undefined));
  const first = examples?.[0] ?? {};
  const row = Object.fromEntries(features.map(({ name, values, lower }) => [name, first[name] ?? values?.[0] ?? lower ?? null]));
  const number = (value, usual) => (typeof value === "number" ? value : usual);
  const most = limits?.k ?? 3;
  return {
    row: { ...row, ...fitting(given?.row) },
    locked: Array.isArray(given?.locked) ? given.locked.filter((name) => known.has(name)) : [],
    limits: Object.fromEntries(Object.entries(fitting(given?.limits)).filter(([, ends]) => ends && typeof ends === "object")),
    plausibility: given?.plausibility === null ? null : number(given?.plausibility, 0.5),
    k: Math.min(number(given?.k, 3), most),
    maxChanges: number(given?.maxChanges, null),
    target: classes.includes(given?.target) ? given.target : null,
    prediction: Array.isArray(given?.prediction) ? given.prediction : [null, null],
    chosen: number(given?.chosen, 0),
  };
}

// The store of one page or widget.
//   ask: a transport, `overHttp()` or that of `overMessages(model)`
//   about: what GET /about says
//   given: a state to begin with, as of a link; what it leaves out is as usual
function createStore(ask, about, given = null) {
  const start = startOf(about, given);
  const parts = Object.fromEntries(Object.entries(start).map(([name, value]) => [name, signal(value)]));
  const { row, locked, limits, plausibility, k, maxChanges, target, prediction, chosen } = parts;
  const pictured = signal(null);
  const byName = new Map(about.features.map((feature) => [feature.name, feature]));

  const demands = computed(() => {
    const asked = { row: row.value, locked: locked.value, ranges: limits.value };
    if (maxChanges.value !== null) asked.max_changes = maxChanges.value;
    if (target.value !== null) asked.target = target.value;
    if (about.regressor) asked.prediction = prediction.value;
    return asked;
  });
  const question = computed(() => ({ ...demands.value, plausibility: plausibility.value, k: k.value }));
  const decision = following(PAUSE);
  const answer = following(PAUSE);
  const front = following(PAUSE);
  const density = following(0);
  const reason = following(0);

  // A regressor has no other class to ask for: somebody must say what it is to predict.
  const ready = () => !about.regressor || prediction.value.some((end) => end !== null);

  const askDecision = () => decision.follow((abort) => ask("/decide", { row: row.peek() }, { signal: abort }));
  const askAnswer = () =>
    answer.follow((abort, progress) => ask("/explain", question.peek(), { signal: abort, progress }));

  // The curve does not depend on the plausibility: it is asked once per row and rules, after the answer.
  let drawn = "";
  function askFront() {
    const body = demands.peek();
    const key = JSON.stringify(body);
    if (key === drawn) return;
    drawn = key;
    front.follow((abort) => ask("/front", body, { signal: abort }));
  }

  const shown = computed(() => {
    const value = answer.state.value.value;
    if (!value) return null;
    const place = Math.min(chosen.value, Math.max(0, value.answers.length - 1));
    const here = value.answers[place] ?? null;
    return { place, answer: here, changes: here?.changes ?? [] };
  });

  const stops = [
    effect(() => {
      row.value;
      untracked(askDecision);
    }),
    effect(() => {
      question.value;
      untracked(ready() ? askAnswer : answer.clear);
    }),
    effect(() => {
      const { value, waiting } = answer.state.value;
      if (waiting || !value) return;
      untracked(() => {
        askFront();
        if (value.status === "infeasible") reason.follow((abort) => ask("/why", question.peek(), { signal: abort }), { keep: false });
        else reason.clear();
      });
    }),
    effect(() => {
      const here = shown.value;
      const names = here?.changes.map((change) => change.feature) ?? [];
      const name = names.includes(pictured.value) || (pictured.value && !names.length) ? pictured.value : names[0] ?? null;
      untracked(() => {
        pictured.value = name;
        if (!name) return density.clear();
        const body = { row: row.peek(), feature: name, answer: here?.answer?.row ?? null };
        const key = JSON.stringify(body);
        if (key === density.key) return undefined;
        density.key = key;
        return density.follow((abort) => ask("/density", body, { signal: abort }));
      });
    }),
  ];

  return {
    ...parts, about, byName, ready, question, pictured, shown,
    decision: decision.state, answer: answer.state, front: front.state, density: density.state, reason: reason.state,
    setValue(name, value) {
      row.value = { ...row.value, [name]: value };
    },
    useRow(values) {
      batch(() => {
        row.value = { ...row.value, ...values };
        chosen.value = 0;
      });
    },
    toggleLock(name) {
      const now = locked.value;
      locked.value = now.includes(name) ? now.filter((other) => other !== name) : [...now, name];
    },
    // Ends of a feature that an answer must lie between; null for none.
    setLimit(name, atLeast, atMost) {
      const { [name]: _, ...others } = limits.value;
      const ends = { ...(atLeast !== null && { at_least: atLeast }), ...(atMost !== null && { at_most: atMost }) };
      limits.value = Object.keys(ends).length ? { ...others, [name]: ends } : others;
    },
    free() {
      batch(() => {
        locked.value = [];
        limits.value = {};
        maxChanges.value = null;
      });
    },
    retry() {
      drawn = "";
      askDecision();
      if (ready()) askAnswer();
    },
    report: () => ask("/report", question.peek()),
    state: () => Object.fromEntries(Object.entries(parts).map(([name, each]) => [name, each.value])),
    restore(state) {
      const next = startOf(about, state);
      batch(() => {
        for (const [name, value] of Object.entries(next)) parts[name].value = value;
      });
    },
    close() {
      stops.forEach((stop) => stop());
      [decision, answer, front, density, reason].forEach((each) => each.stop());
    },
  };
}

export { createStore };
