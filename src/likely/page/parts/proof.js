// How strong the claim is, in words: proved, not proved yet, or proved that there is nothing.
import { html } from "../html.js";
import { atMostText } from "../words.js";
import { Icon } from "./icons.js";

// Less than this is rounding.
const NOTHING = 1e-6;

// The tone a result is shown in, and a heading for it.
function verdict({ status, proof, gap, answers }) {
  const several = answers.length > 1;
  if (status === "optimal") {
    if (proof !== "exact") return ["open", several ? "The best answers, by the solver's word" : "The best answer, by the solver's word"];
    if (gap !== null && gap > NOTHING) return ["good", `Proved: nothing closer exists, to within ${atMostText(gap)}`];
    return ["good", "Proved: nothing closer exists"];
  }
  if (status === "feasible") {
    return ["open", gap === null ? "Not proved: closer ones may exist" : `Not proved: a closer one could cost up to ${atMostText(gap)} less`];
  }
  if (status === "infeasible") return ["none", proof === "exact" ? "Proved: there is no answer" : "No answer, by the solver's word"];
  if (status === "disputed") return ["none", "No answer holds"];
  return ["open", "No answer yet"];
}

function Proof({ result }) {
  const [tone, heading] = verdict(result);
  const icon = tone === "good" ? "check" : tone === "none" ? "close" : "warn";
  return html`<div class=${`proof ${tone}`} data-status=${result.status}>
    <span class="seal"><${Icon} name=${icon} size=${16} /></span>
    <div>
      <p class="verdict">${heading}</p>
      <p class="claim">${(result.answers.length ? result.claim : result.claim.slice(1)).join(" ")}</p>
    </div>
  </div>`;
}

// The same in two words, where there is no room.
function briefly({ status, proof }) {
  const sure = proof === "exact" && (status === "optimal" || status === "infeasible");
  return sure ? "Proved" : "Not proved";
}

export { Proof, briefly, verdict };
