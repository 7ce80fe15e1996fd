// The answers in the middle of the page: the chosen one as a sentence, the proof, a card for each - or why there is none.
import { html } from "../html.js";
import { markedSentence } from "../words.js";
import { Absence } from "./absence.js";
import { Answer, bare } from "./answer.js";
import { Icon } from "./icons.js";
import { Progress } from "./progress.js";
import { Proof, verdict } from "./proof.js";

function Answers({ store }) {
  const { value, error, waiting, progress } = store.answer.value;
  if (!store.ready()) return html`<p class="lead">Say what the model should predict, and see what would have to be different.</p>`;
  if (error) return html`<${Problem} store=${store} error=${error} />`;
  if (!value) return html`<${Loading} progress=${progress} />`;
  const { answer, place, changes } = store.shown.value;
  return html`<section class=${waiting ? "answers waiting" : "answers"} aria-label="Answers" aria-busy=${waiting}>
    ${answer ? html`<${Sentence} answer=${answer} changes=${changes} />` : html`<p class="lead">${value.claim[0]}</p>`}
    <${Proof} result=${value} />
    ${waiting && html`<${Progress} progress=${progress} />`}
    ${answer
      ? html`<div class="cards">
          ${value.answers.map((each, i) => html`<${Answer} key=${i} store=${store} answer=${each} place=${i} chosen=${i === place}
            many=${value.answers.length > 1} />`)}
        </div>`
      : html`<${Absence} store=${store} result=${value} />`}
    ${(value.notes ?? []).map((note) => html`<p class="note soft small" key=${note}>${note}</p>`)}
    <p class="hidden" role="status">${waiting ? "" : spoken(value, answer)}</p>
  </section>`;
}

// What a screen reader says when an answer has come.
function spoken(result, answer) {
  return `${answer ? answer.sentence : ""} ${verdict(result)[1]}.`;
}

function Sentence({ answer, changes }) {
  const long = answer.sentence.length > 170;
  return html`<p class=${long ? "lead long" : "lead"} data-part="sentence">
    ${markedSentence(answer.sentence, changes).map(([text, mark], i) =>
      mark === "to" ? html`<b key=${i}>${bare(text)}</b>` : mark === "from" ? html`<span class="from" key=${i}>${bare(text)}</span>` : text)}
  </p>`;
}

function Loading({ progress }) {
  return html`<section class="answers" aria-label="Answers" aria-busy="true">
    <div class="ghosts" aria-hidden="true"><span></span><span></span><span class="short"></span></div>
    ${progress ? html`<${Progress} progress=${progress} />` : html`<p class="hidden" role="status">Searching</p>`}
  </section>`;
}

function Problem({ store, error }) {
  return html`<section class="problem" role="alert">
    <${Icon} name="warn" />
    <div>
      <p><strong>${error.status === 422 ? "This cannot be asked as it is." : "No answer."}</strong></p>
      <p>${error.message}</p>
      ${error.status !== 422 && html`<button type="button" onClick=${store.retry}>Try again</button>`}
    </div>
  </section>`;
}

export { Answers };
