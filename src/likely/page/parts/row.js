// The row: pick an example or type values; lock and limit what an answer may change.
import { html, useName, useState } from "../html.js";
import { counted, titleOf } from "../words.js";
import { Feature } from "./feature.js";
import { Icon } from "./icons.js";

// With more features than this a field to find one helps.
const MANY = 10;

function Row({ store }) {
  const [wanted, setWanted] = useState("");
  const { features } = store.about;
  const found = features.filter((feature) => titleOf(feature).toLowerCase().includes(wanted.trim().toLowerCase()));
  return html`<section class="card row" aria-label="The row">
    <header>
      <h2>The row</h2>
      <${Examples} store=${store} />
    </header>
    <${Restrictions} store=${store} />
    ${features.length > MANY &&
    html`<input class="find" type="search" placeholder=${`Find one of ${features.length} features`} aria-label="Find a feature" value=${wanted}
      onInput=${(event) => setWanted(event.target.value)} />`}
    <ul class="features">
      ${found.map((feature) => html`<${Feature} key=${feature.name} store=${store} feature=${feature} />`)}
    </ul>
    ${!found.length && html`<p class="soft">No feature has “${wanted}” in its name.</p>`}
  </section>`;
}

function Examples({ store }) {
  const id = useName("example");
  const { examples } = store.about;
  if (!examples?.length) return null;
  const current = JSON.stringify(store.row.value);
  const at = examples.findIndex((row) => JSON.stringify({ ...store.row.value, ...row }) === current);
  return html`<span class="field">
    <label class="hidden" for=${id}>Begin with</label>
    <select id=${id} value=${String(at)} onChange=${(event) => event.target.value >= 0 && store.useRow(examples[Number(event.target.value)])}>
      ${at < 0 && html`<option value="-1">Your own values</option>`}
      ${examples.map((_, i) => html`<option key=${i} value=${String(i)}>Example ${i + 1}</option>`)}
    </select>
  </span>`;
}

// What may not change, at a glance, each with a way to take it back.
function Restrictions({ store }) {
  const locked = store.locked.value;
  const limited = Object.keys(store.limits.value);
  if (!locked.length && !limited.length) {
    return html`<p class="soft small hint-line">Lock what cannot change, drag a limit: the answer follows.</p>`;
  }
  return html`<div class="restrictions">
    <ul>
      ${locked.map((name) => html`<li key=${name}>
        <button type="button" class="chip" onClick=${() => store.toggleLock(name)} aria-label=${`Unlock ${titleOf(store.byName.get(name))}`}>
          <${Icon} name="lock" size=${13} /> ${titleOf(store.byName.get(name))} <${Icon} name="close" size=${12} />
        </button>
      </li>`)}
    </ul>
    <button type="button" class="quiet small" onClick=${store.free}>
      Free all (${[locked.length && counted(locked.length, "lock"), limited.length && counted(limited.length, "limit")].filter(Boolean).join(", ")})
    </button>
  </div>`;
}

export { Row };
