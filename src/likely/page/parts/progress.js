// How far a search is, while it takes long enough to be seen.
import { html } from "../html.js";
import { atMostText, costText } from "../words.js";

function Progress({ progress }) {
  if (!progress) return null;
  const { best, bound, gap, seconds } = progress;
  const closed = gap === null ? 0 : 1 - Math.min(1, gap);
  const known = best === null ? "No answer so far" : `Best so far costs ${costText(best)}`;
  const left = best !== null && gap ? `; a closer one could cost up to ${atMostText(gap)} less` : bound ? `; none below ${costText(bound)}` : "";
  return html`<div class="searching">
    <div class="bar" role="progressbar" aria-label="How much is proved" aria-valuemin="0" aria-valuemax="100" aria-valuenow=${Math.round(100 * closed)}>
      <span style=${{ width: `${Math.max(2, 100 * closed)}%` }}></span>
    </div>
    <p class="soft small">${known}${left}. ${seconds.toFixed(1)} s</p>
  </div>`;
}

export { Progress };
