// A field for the value of one feature.
import { html } from "../html.js";
import { valueText } from "../words.js";

function Value({ feature, value, id, onChange }) {
  if (feature.values && typeof feature.lower !== "number" && !feature.time) {
    return html`<${Choice} feature=${feature} value=${value} id=${id} onChange=${onChange} />`;
  }
  const codes = feature.values?.length ? `${id}-codes` : undefined;
  const number = !feature.time && !codes;
  const shown = value === null || value === undefined ? "" : String(value);
  const tell = (event) => {
    const said = parsed(event.target.value, feature);
    if (said !== undefined) onChange(said);
  };
  return html`<span class="field">
    <input id=${id} type=${number ? "number" : "text"} value=${shown} step="any" list=${codes} placeholder="unknown" autocomplete="off"
      inputmode=${feature.step === 1 && feature.lower >= 0 ? "numeric" : undefined} onInput=${tell} />
    ${feature.unit && html`<span class="unit">${feature.unit}</span>`}
    ${codes && html`<datalist id=${codes}>${feature.values.map((code) => html`<option key=${code} value=${String(code ?? "")}>${valueText(code, feature)}</option>`)}</datalist>`}
  </span>`;
}

// What somebody typed as a value; undefined while it is none yet.
function parsed(text, feature) {
  if (!text.trim()) return null;
  const code = feature.values?.find((each) => String(each) === text);
  if (code !== undefined || feature.time) return code ?? text;
  const number = Number(text);
  return Number.isFinite(number) ? number : undefined;
}

function Choice({ feature, value, id, onChange }) {
  const at = feature.values.indexOf(value ?? null);
  const choose = (event) => onChange(event.target.value === "" ? null : feature.values[Number(event.target.value)]);
  return html`<span class="field">
    <select id=${id} value=${at < 0 ? "" : String(at)} onChange=${choose}>
      ${(at < 0 || !feature.values.includes(null)) && html`<option value="">unknown</option>`}
      ${feature.values.map((each, i) => html`<option key=${i} value=${String(i)}>${each === null ? "missing" : valueText(each, feature)}</option>`)}
    </select>
  </span>`;
}

export { Value };
