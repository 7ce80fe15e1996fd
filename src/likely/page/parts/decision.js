// What the model says of the row, and how probable it finds its classes.
import { html } from "../html.js";
import { numberText, shareText } from "../words.js";

function Decision({ store }) {
  const { value, error, waiting } = store.decision.value;
  if (error) return null; // the answer's place says what is wrong with the row
  if (!value) return html`<p class="decision ghost" aria-busy="true">The model is asked …</p>`;
  const { label, probability, percentile } = value;
  if (label === null) return html`<p class="decision">The row has unknown values, so the model says nothing yet.</p>`;
  const said = store.about.regressor ? numberText(label) : String(label);
  const share = probability?.[store.about.classes.indexOf(label)];
  return html`<div class="decision" aria-busy=${waiting}>
    <p>
      The model ${store.about.regressor ? "predicts" : "says"} <strong class="from">${said}</strong>
      ${typeof share === "number" && html` <span class="soft">with a probability of ${shareText(share)}</span>`}
      ${typeof percentile === "number" && html`<span class="soft usual">${usualText(percentile, store.about.regressor ? "" : `${label} `)}</span>`}
    </p>
    ${probability && html`<${Shares} classes=${store.about.classes} shares=${probability} label=${label} />`}
  </div>`;
}

function usualText(percentile, kind) {
  if (percentile < 1) return "A very unusual row";
  return `Likelier than ${Math.floor(percentile)} % of ${kind}rows`;
}

function Shares({ classes, shares, label }) {
  const words = classes.map((name, place) => `${name} ${shareText(shares[place] ?? 0)}`).join(", ");
  return html`<div class="shares" role="img" aria-label=${`Probabilities: ${words}`}>
    ${classes.map((name, place) => html`<span key=${name} class=${name === label ? "share own" : "share"}
      style=${{ flexGrow: Math.max(0.001, shares[place] ?? 0) }} title=${`${name} ${shareText(shares[place] ?? 0)}`}></span>`)}
  </div>`;
}

export { Decision };
