// The whole: what the model says, the answers, what is demanded, the pictures, and the row beside them.
import { html, useEffect, useState } from "../html.js";
import { counted } from "../words.js";
import { Actions } from "./actions.js";
import { Answers } from "./answers.js";
import { Decision } from "./decision.js";
import { Demands } from "./demands.js";
import { Density } from "./density.js";
import { Front } from "./front.js";
import { briefly } from "./proof.js";
import { Row } from "./row.js";
import { Theme } from "./theme.js";

// link: gives the address that restores the state; without one, as in a notebook, there is neither link nor theme.
function App({ store, link }) {
  return html`<div class="shell">
    ${link && html`<a class="skip" href="#likely-answer" onClick=${toAnswer}>To the answer</a>`}
    <header class="top">
      <p class="brand"><${Mark} /><strong>likely</strong>${store.about.title && html`<span class="soft title">${store.about.title}</span>`}</p>
      <div class="tools"><${Actions} store=${store} link=${link} />${link && html`<${Theme} />`}</div>
    </header>
    <${link ? "main" : "div"} class="layout">
      <div class="told">
        <div class="answer-part" id=${link && "likely-answer"} tabindex="-1">
          ${link && html`<h1 class="hidden">What would change the decision?</h1>`}
          <${Decision} store=${store} />
          <${Answers} store=${store} />
        </div>
        <div class="pictures"><${Front} store=${store} /><${Density} store=${store} /></div>
        <${Rules} rules=${store.about.rules ?? []} />
      </div>
      <div class="asked"><${Demands} store=${store} /><${Row} store=${store} /></div>
    </>
    ${link && html`<${Ticker} store=${store} />`}
  </div>`;
}

function toAnswer(event) {
  event.preventDefault(); // the part after `#` is the state's
  document.getElementById("likely-answer").focus();
}

function Mark() {
  return html`<svg class="brand-mark" width="24" height="24" viewBox="0 0 24 24" aria-hidden="true">
    <rect width="24" height="24" rx="6" /><path d="M5 16c4 0 4.500-8 7-8s3 8 7 8" /><circle cx="12" cy="8" r="1.900" />
  </svg>`;
}

function Rules({ rules }) {
  if (!rules.length) return null;
  return html`<details class="rules">
    <summary>${counted(rules.length, "rule")} that every answer keeps</summary>
    <ul>${rules.map((rule) => html`<li key=${rule}>${rule}</li>`)}</ul>
  </details>`;
}

// On a phone the answer is above the row: this line keeps it in sight.
function Ticker({ store }) {
  const { value, waiting } = store.answer.value;
  const inSight = useInSight("likely-answer");
  if (!value || inSight) return null;
  const changes = store.shown.value?.changes.length ?? 0;
  const text = value.answers.length ? counted(changes, "change") : "No answer";
  return html`<a class=${waiting ? "ticker waiting" : "ticker"} href="#likely-answer" onClick=${toAnswer}>
    <strong>${text}</strong><span>${briefly(value)}</span><em>To the answer</em>
  </a>`;
}

// Whether some of an element is to be seen.
function useInSight(id) {
  const [seen, setSeen] = useState(true);
  useEffect(() => {
    const observer = new IntersectionObserver((entries) => setSeen(entries.at(-1).isIntersecting));
    observer.observe(document.getElementById(id));
    return () => observer.disconnect();
  }, []);
  return seen;
}

export { App };
