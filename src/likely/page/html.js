// What every component is written with: templates, signals and hooks, from one place.
import { h, render } from "./vendor/preact.js";
import { useEffect, useMemo, useRef, useState } from "./vendor/preact-hooks.js";
import { batch, computed, effect, signal, untracked } from "./vendor/signals-core.js";
import "./vendor/signals.js"; // components that read a signal are drawn again when it changes
import htm from "./vendor/htm.js";

const html = htm.bind(h);

let ids = 0;
// An id that no other element of the document has, also with several widgets in one notebook.
function useName(what) {
  return useMemo(() => `likely-${what}-${++ids}`, []);
}

export { batch, computed, effect, html, render, signal, untracked, useEffect, useMemo, useName, useRef, useState };
