// Why there is no answer, and what would have to give.
import { html } from "../html.js";

function Absence({ store, result }) {
  const { value, error, waiting } = store.reason.value;
  const limited = store.locked.value.length + Object.keys(store.limits.value).length + (store.maxChanges.value === null ? 0 : 1);
  return html`<div class="card absence">
    ${result.status === "infeasible" && html`<h2>What stands in the way</h2>`}
    ${waiting && html`<p class="soft">Looking for the smallest set of demands that excludes every answer …</p>`}
    ${value && html`<ul>${value.reasons.map((reason) => html`<li key=${reason.demand}>${reason.text}</li>`)}</ul>`}
    ${value && !value.reasons.length && html`<p>${value.sentence}</p>`}
    ${error && html`<p class="soft">${error.message}</p>`}
    <div class="ways">
      ${limited > 0 && html`<button type="button" onClick=${store.free}>Give up locks and limits</button>`}
      ${store.plausibility.value !== null &&
      html`<button type="button" onClick=${() => (store.plausibility.value = weaker(store))}>Accept less plausible rows</button>`}
    </div>
  </div>`;
}

// The next weaker demand on likelihood; null for none.
function weaker(store) {
  const below = store.about.plausibilities.filter((share) => share < store.plausibility.value);
  return below.length ? Math.max(...below) : null;
}

export { Absence };
