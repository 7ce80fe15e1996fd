// How usual the values of one feature are, and where the row and the answer lie.
import { html } from "../html.js";
import { titleOf, valueText } from "../words.js";

function Density({ store }) {
  const { value, error, waiting } = store.density.value;
  const name = store.pictured.value;
  const names = store.shown.value?.changes.map((change) => change.feature) ?? [];
  const choices = names.length ? names : name ? [name] : [];
  return html`<section class=${waiting ? "card density waiting" : "card density"} aria-label="How usual the values are" aria-busy=${waiting}>
    <h2>How usual the values are</h2>
    ${choices.length > 0 &&
    html`<div class="tabs" role="group" aria-label="Feature in the picture">
      ${choices.map((each) => html`<button key=${each} type="button" aria-pressed=${each === name} onClick=${() => (store.pictured.value = each)}>
        ${titleOf(store.byName.get(each))}
      </button>`)}
    </div>`}
    ${error && html`<p class="empty soft">${error.message}</p>`}
    ${!error && !value && html`<p class="empty soft">${waiting ? "The picture is being drawn …" : "Nothing changes, so there is nothing to compare."}</p>`}
    ${value && (value.numeric ? html`<${Area} picture=${value} />` : html`<${Bars} picture=${value} feature=${store.byName.get(value.feature)} />`)}
  </section>`;
}

function Legend({ picture }) {
  return html`<ul class="legend small soft">
    ${picture.row !== null && html`<li><i class="now"></i>now</li>`}
    ${picture.answer !== null && picture.answer !== picture.row && html`<li><i class="then"></i>in the answer</li>`}
    <li><i class="all"></i>all rows</li>
    ${picture.given_row && html`<li><i class="given"></i>rows that are otherwise like this one</li>`}
  </ul>`;
}

function Area({ picture }) {
  const { edges, marginal, given_row: given, ticks, row, answer } = picture;
  const low = edges[0];
  const width = edges.at(-1) - low || 1;
  const x = (place) => (100 * (place - low)) / width;
  const within = (place) => typeof place === "number" && place >= low && place <= low + width;
  return html`<figure>
    <div class="plot" role="img" aria-label=${`Density of ${picture.title}: ${placeText(picture)}`}>
      <svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">
        <path class="all" d=${outline(edges, marginal, x)} />
        ${given && html`<path class="given" d=${outline(edges, given, x)} />`}
        ${within(row) && html`<line class="now" x1=${x(row)} x2=${x(row)} y1="0" y2="100" />`}
        ${within(answer) && answer !== row && html`<line class="then" x1=${x(answer)} x2=${x(answer)} y1="0" y2="100" />`}
      </svg>
    </div>
    <div class="ticks soft small" aria-hidden="true">
      ${ticks.filter(([place]) => within(place)).map(([place, text]) => html`<span key=${text} style=${{ left: `${x(place)}%` }}>${text}</span>`)}
    </div>
    <${Legend} picture=${picture} />
  </figure>`;
}

// A histogram's outline, as high as the picture at its highest bar.
function outline(edges, heights, x) {
  const most = Math.max(...heights) || 1;
  let path = `M${x(edges[0])} 100`;
  heights.forEach((height, i) => {
    const y = 100 - (92 * height) / most;
    path += `L${x(edges[i])} ${y}L${x(edges[i + 1])} ${y}`;
  });
  return `${path}L${x(edges.at(-1))} 100Z`;
}

function placeText({ edges, marginal, row, answer }) {
  const height = (place) => marginal[Math.max(0, edges.findLastIndex((edge) => edge <= place))] ?? 0;
  if (typeof row !== "number" || typeof answer !== "number" || row === answer) return "where the row lies";
  return height(answer) >= height(row) ? "the answer's value is more usual than the row's" : "the answer's value is less usual than the row's";
}

function Bars({ picture, feature }) {
  const { marginal, given_row: given, row, answer } = picture;
  const most = Math.max(...marginal, ...(given ?? [])) || 1;
  return html`<figure>
    <ul class="bars">
      ${marginal.map((share, place) => {
        const mark = place === answer && answer !== row ? "then" : place === row ? "now" : "";
        return html`<li key=${place} class=${mark}>
          <span class="of">${valueText(feature.values[place], feature)}${mark && html`<em>${mark === "now" ? "now" : "in the answer"}</em>`}</span>
          <span class="heights" aria-hidden="true">
            <i class="all" style=${{ width: `${(100 * share) / most}%` }}></i>
            ${given && html`<i class="given" style=${{ width: `${(100 * given[place]) / most}%` }}></i>`}
          </span>
          <span class="hidden">${(100 * share).toFixed(1)} % of all rows</span>
        </li>`;
      })}
    </ul>
    <${Legend} picture=${{ ...picture, row: null, answer: null }} />
  </figure>`;
}

export { Density };
