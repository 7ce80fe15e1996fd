// Two handles on a scale: between which values an answer may lie. Where the row and the answer are is marked.
import { html } from "../html.js";
import { scaleOf, titleOf } from "../words.js";

function Limits({ store, feature, now, then }) {
  const scale = scaleOf(feature);
  if (!scale) return null;
  const ends = store.limits.value[feature.name] ?? {};
  const low = ends.at_least === undefined ? scale.lower : scale.place(ends.at_least);
  const high = ends.at_most === undefined ? scale.upper : scale.place(ends.at_most);
  const share = (place) => (100 * (Math.min(scale.upper, Math.max(scale.lower, place)) - scale.lower)) / (scale.upper - scale.lower);
  const set = (from, to) =>
    store.setLimit(feature.name, from <= scale.lower ? null : scale.value(from), to >= scale.upper ? null : scale.value(to));
  const title = titleOf(feature);
  const nowPlace = now === null ? NaN : scale.place(now);
  const thenPlace = then === undefined ? NaN : scale.place(then);
  const handle = (which, value, onInput) => html`<input type="range" class=${`handle ${which}`} min=${scale.lower} max=${scale.upper} step=${scale.step}
    value=${value} aria-label=${`${title}: ${which === "least" ? "at least" : "at most"}`} aria-valuetext=${scale.text(value)}
    onInput=${(event) => onInput(Number(event.target.value))} />`;
  return html`<div class="limits">
    <div class="scale">
      <span class="rail"></span>
      <span class="allowed" style=${{ left: `${share(low)}%`, width: `${Math.max(0, share(high) - share(low))}%` }}></span>
      ${Number.isFinite(nowPlace) && html`<span class="mark now" style=${{ left: `${share(nowPlace)}%` }}></span>`}
      ${Number.isFinite(thenPlace) && thenPlace !== nowPlace && html`<span class="mark then" style=${{ left: `${share(thenPlace)}%` }}></span>`}
      ${handle("least", low, (value) => set(Math.min(value, high), high))}
      ${handle("most", high, (value) => set(low, Math.max(value, low)))}
    </div>
    ${ends.at_least !== undefined || ends.at_most !== undefined
      ? html`<p class="ends small">
          <span>${limitText(ends, scale)}</span>
          <button type="button" class="quiet small" onClick=${() => store.setLimit(feature.name, null, null)}
            aria-label=${`Clear the limits of ${title}`}>clear</button>
        </p>`
      : null}
  </div>`;
}

function limitText(ends, scale) {
  const parts = [];
  if (ends.at_least !== undefined) parts.push(`at least ${scale.text(scale.place(ends.at_least))}`);
  if (ends.at_most !== undefined) parts.push(`at most ${scale.text(scale.place(ends.at_most))}`);
  return parts.join(", ");
}

export { Limits };
