// One feature of the row: its value, whether it may change, and how far.
import { html, useName } from "../html.js";
import { titleOf } from "../words.js";
import { bare } from "./answer.js";
import { Icon } from "./icons.js";
import { Limits } from "./limits.js";
import { Value } from "./value.js";

function Feature({ store, feature }) {
  const id = useName("value");
  const { name, immutable, direction, read } = feature;
  const locked = immutable || store.locked.value.includes(name);
  const change = store.shown.value?.changes.find((each) => each.feature === name);
  const title = titleOf(feature);
  const value = store.row.value[name];
  const kind = ["feature", locked && "locked", change && "moves"].filter(Boolean).join(" ");
  return html`<li class=${kind} data-feature=${name}>
    <div class="line">
      <label for=${id}>
        ${title}
        ${!locked && direction && html`<span class="hint">may only ${direction}</span>`}
        ${immutable && html`<span class="hint">never changes</span>`}
        ${read === false && html`<span class="hint">not read by the model</span>`}
      </label>
      <${Value} feature=${feature} value=${value} id=${id} onChange=${(said) => store.setValue(name, said)} />
      <button type="button" class="lock" aria-pressed=${locked} disabled=${immutable} onClick=${() => store.toggleLock(name)}
        aria-label=${`Lock ${title}`} title=${immutable ? "A rule keeps it as it is" : locked ? "Locked: click to let it change" : "Lock: this cannot change"}>
        <${Icon} name=${locked ? "lock" : "open"} size=${17} />
      </button>
    </div>
    ${!locked && html`<${Limits} store=${store} feature=${feature} now=${value} then=${change?.to} />`}
    ${change && html`<p class="becomes small">would be <strong class="to">${bare(change.to_text)}</strong></p>`}
  </li>`;
}

export { Feature };
