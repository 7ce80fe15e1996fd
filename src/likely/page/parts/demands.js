// What is demanded of answers: how plausible, how many, how many changes, which class or number to reach.
import { html, useName } from "../html.js";
import { plausibilitySentence, plausibilityText } from "../words.js";

function Demands({ store }) {
  return html`<section class="card demands" aria-label="What answers must be like">
    <${Plausibility} store=${store} />
    <div class="few">
      ${store.about.regressor ? html`<${Prediction} store=${store} />` : html`<${Target} store=${store} />`}
      <${Choice} name="Changes" value=${store.maxChanges.value ?? ""} onChange=${(text) => (store.maxChanges.value = text ? Number(text) : null)}
        options=${[["", "any number"], ...[1, 2, 3, 4, 5].map((n) => [n, n === 1 ? "only 1" : `at most ${n}`])]} />
      <${Choice} name="Answers" value=${store.k.value} onChange=${(text) => (store.k.value = Number(text))}
        options=${[1, 2, 3, 4, 6].filter((n) => n <= (store.about.limits?.k ?? 3)).map((n) => [n, n === 1 ? "the best" : `the ${n} best`])} />
    </div>
  </section>`;
}

// A slider over the shares at which the curve is drawn, and none at its left end.
function Plausibility({ store }) {
  const id = useName("plausibility");
  const stops = [null, ...store.about.plausibilities];
  const now = store.plausibility.value;
  const place = now === null ? 0 : stops.reduce((best, share, i) => (i && Math.abs(share - now) < Math.abs((stops[best] ?? 9) - now) ? i : best), 0);
  return html`<div class="plausibility">
    <div class="pair">
      <label for=${id}>How plausible</label>
      <output for=${id}>${plausibilityText(now)}</output>
    </div>
    <input id=${id} type="range" min="0" max=${stops.length - 1} step="1" value=${place} aria-valuetext=${plausibilityText(now)}
      style=${{ "--share": `${(100 * place) / (stops.length - 1)}%` }} onInput=${(event) => (store.plausibility.value = stops[Number(event.target.value)])} />
    <div class="pair soft small" aria-hidden="true"><span>anything</span><span>very usual</span></div>
    <p class="soft small">${plausibilitySentence(now)}</p>
  </div>`;
}

function Choice({ name, value, options, onChange }) {
  const id = useName("choice");
  return html`<div class="choice">
    <label for=${id}>${name}</label>
    <span class="field">
      <select id=${id} value=${String(value)} onChange=${(event) => onChange(event.target.value)}>
        ${options.map(([each, text]) => html`<option key=${each} value=${String(each)}>${text}</option>`)}
      </select>
    </span>
  </div>`;
}

function Target({ store }) {
  const { classes } = store.about;
  const options = [["", classes.length > 2 ? "any other" : "the other one"], ...classes.map((name, i) => [i, String(name)])];
  const value = store.target.value === null ? "" : classes.indexOf(store.target.value);
  const choose = (text) => (store.target.value = text === "" ? null : classes[Number(text)]);
  return html`<${Choice} name="Decision to reach" value=${value} options=${options} onChange=${choose} />`;
}

function Prediction({ store }) {
  const [low, high] = store.prediction.value;
  const number = (text) => (text.trim() && Number.isFinite(Number(text)) ? Number(text) : null);
  return html`
    <${End} name="Predict at least" value=${low} onChange=${(text) => (store.prediction.value = [number(text), high])} />
    <${End} name="Predict at most" value=${high} onChange=${(text) => (store.prediction.value = [low, number(text)])} />`;
}

function End({ name, value, onChange }) {
  const id = useName("end");
  return html`<div class="choice">
    <label for=${id}>${name}</label>
    <span class="field"><input id=${id} type="number" step="any" value=${value ?? ""} placeholder="no end" onInput=${(event) => onChange(event.target.value)} /></span>
  </div>`;
}

export { Demands };
