// One answer: what would have to change, from what to what; and what it costs, how likely and how probable it is.
import { html } from "../html.js";
import { costText, counted, numberText, shareText, titleOf } from "../words.js";
import { Icon } from "./icons.js";

function Answer({ store, answer, place, chosen, many }) {
  const name = many ? `Way ${place + 1}` : "The answer";
  const { regressor } = store.about;
  const choose = () => (store.chosen.value = place);
  return html`<article class=${chosen ? "card answer chosen" : "card answer"} aria-label=${name}
    onClick=${many && !chosen ? choose : undefined}>
    <header>
      ${many
        ? html`<button type="button" class="choose" aria-pressed=${chosen} onClick=${choose}>${name}</button>`
        : html`<h3>${name}</h3>`}
      <span class="soft small">${counted(answer.changes.length, "change")}<span class="brief">, cost ${costText(answer.cost)}</span></span>
    </header>
    <ul class="changes">
      ${answer.changes.map((change) => html`<${Change} key=${change.feature} store=${store} change=${change} />`)}
    </ul>
    <dl class="measures">
      <${Measure} name="Cost" text=${costText(answer.cost)} />
      ${typeof answer.percentile === "number" &&
      html`<${Measure} name="Likelier than" text=${`${Math.floor(answer.percentile)} % of ${regressor ? "" : `${answer.label} `}rows`} share=${answer.percentile / 100} />`}
      ${typeof answer.probability_after === "number" &&
      html`<${Measure} name=${`Probability of ${answer.label}`} text=${shareText(answer.probability_after)} share=${answer.probability_after}
        before=${answer.probability_before} />`}
      ${typeof answer.prediction === "number" && html`<${Measure} name="Prediction" text=${numberText(answer.prediction)} />`}
    </dl>
  </article>`;
}

function Change({ store, change }) {
  const feature = store.byName.get(change.feature);
  const title = titleOf(feature);
  const lock = (event) => {
    event.stopPropagation(); // the card behind it is chosen by a click
    store.toggleLock(change.feature);
  };
  return html`<li class="change" data-feature=${change.feature}>
    <div class="what">
      <span class="name">${title}</span>
      <span class="move">
        <span class="hidden">from </span><span class="from">${bare(change.from_text)}</span>
        <span class="target"><${Icon} name="arrow" size=${15} /><span class="hidden"> to </span><strong class="to">${bare(change.to_text)}</strong></span>
      </span>
    </div>
    <button type="button" class="quiet cannot" onClick=${lock} aria-label=${`Lock ${title}: it cannot change`}
      title="Lock: this cannot change"><${Icon} name="open" size=${17} /></button>
  </li>`;
}

// A text without the quotes that tell it from a number in sentences.
function bare(text) {
  return text.replace(/^'(.*)'$/, "$1");
}

function Measure({ name, text, share, before }) {
  return html`<div class="measure">
    <dt>${name}</dt>
    <dd>
      ${text}
      ${share !== undefined &&
      html`<span class="meter" aria-hidden="true">
        <span style=${{ width: `${100 * share}%` }}></span>
        ${typeof before === "number" && html`<i style=${{ left: `${100 * before}%` }}></i>`}
      </span>`}
    </dd>
  </div>`;
}

export { Answer, bare };
