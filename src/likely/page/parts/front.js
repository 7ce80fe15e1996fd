// The trade-off: what plausibility costs. Each point is the cheapest answer at its demand; a click asks for it.
import { html } from "../html.js";
import { costText, counted, plausibilityText } from "../words.js";

const HEIGHT = 190;

function Front({ store }) {
  const { value, error, waiting } = store.front.value;
  return html`<section class=${waiting ? "card front waiting" : "card front"} aria-label="What plausibility costs" aria-busy=${waiting}>
    <h2>What plausibility costs</h2>
    <p class="soft small">Each point is the closest answer that is so likely. Choose one to ask for it.</p>
    ${value?.points.length ? html`<${Curve} store=${store} points=${value.points} />` : html`<p class="empty soft">${emptyText(value, error, waiting)}</p>`}
    ${value?.points.length > 0 && value.beyond && html`<p class="soft small">${value.ending}</p>`}
  </section>`;
}

function emptyText(value, error, waiting) {
  if (error) return error.message;
  return waiting || !value ? "The curve is being computed …" : "No answer at any plausibility.";
}

// Points as shares of the picture, from its left and its bottom.
function placed(points) {
  const costs = points.map((point) => point.cost);
  const least = Math.min(...costs);
  const most = Math.max(...costs);
  const room = most - least || Math.max(1e-9, Math.abs(most)) || 1;
  return points.map((point) => ({
    ...point,
    x: Math.min(100, Math.max(0, point.percentile ?? 0)),
    y: 12 + (70 * (point.cost - least)) / room,
  }));
}

function Curve({ store, points }) {
  const spots = placed(points);
  const now = store.plausibility.value;
  const choose = (point) => (store.plausibility.value = point.demand === "any" ? null : point.demand);
  const active = current(spots, now);
  const nearest = (event) => {
    if (event.target.closest("button")) return;
    const box = event.currentTarget.getBoundingClientRect();
    const x = (100 * (event.clientX - box.left)) / box.width;
    choose(spots.reduce((best, spot) => (Math.abs(spot.x - x) < Math.abs(best.x - x) ? spot : best)));
  };
  return html`<div class="curve">
    <div class="plot" style=${{ height: `${HEIGHT}px` }} onClick=${nearest}>
      <svg viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">
        ${[0, 25, 50, 75, 100].map((x) => html`<line key=${x} class="grid" x1=${x} x2=${x} y1="0" y2="100" />`)}
        <path class="under" d=${`${steps(spots)}V100H0Z`} />
        <path class="line" d=${steps(spots)} />
        ${now !== null && html`<line class="demand" x1=${100 * now} x2=${100 * now} y1="0" y2="100" />`}
      </svg>
      ${spots.map((spot) => html`<button key=${spot.demand} type="button" class="spot" aria-pressed=${spot === active}
        style=${{ left: `${spot.x}%`, bottom: `${spot.y}%` }} onClick=${() => choose(spot)} aria-label=${spotText(spot)} title=${spotText(spot)}>
        <span></span>${labelled(spot, spots, active) && html`<em>${costText(spot.cost)}</em>`}
      </button>`)}
    </div>
    <div class="axis soft small" aria-hidden="true">${["0 %", "25 %", "50 %", "75 %", "100 %"].map((text) => html`<span key=${text}>${text}</span>`)}</div>
    <p class="axis-name soft small" aria-hidden="true">likelier than so many rows of its class</p>
  </div>`;
}

// The point that the demand of now leads to: the first that is at least so likely.
function current(spots, now) {
  if (now === null) return spots[0];
  const exact = spots.find((spot) => spot.demand === now);
  return exact ?? spots.find((spot) => spot.x >= 100 * now - 1e-9);
}

// The cost is written at the point of now, and at the ends where there is room beside it.
function labelled(spot, spots, active) {
  const end = spot === spots[0] || spot === spots.at(-1);
  return spot === active || (end && (!active || Math.abs(spot.x - active.x) > 15 || Math.abs(spot.y - active.y) > 15));
}

// A staircase: up to its own likelihood a demand costs what the point costs.
function steps(spots) {
  let path = `M0 ${100 - spots[0].y}`;
  spots.forEach((spot) => (path += `V${100 - spot.y}H${spot.x}`));
  return path;
}

function spotText(spot) {
  const wanted = spot.demand === "any" ? "Any row" : `Asked to be ${plausibilityText(spot.demand)}`;
  return `${wanted}: costs ${costText(spot.cost)}, ${counted(spot.changes, "change")}, likelier than ${Math.floor(spot.percentile ?? 0)} %`;
}

export { Front };
