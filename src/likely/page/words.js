// Texts for people: numbers, names, shares, and how plausible an answer must be.

// A number with as many digits as matter, thousands apart.
function numberText(value, step) {
  if (typeof value !== "number" || !Number.isFinite(value)) return String(value ?? "unknown");
  const decimals = step ? Math.min(8, (String(step).split(".")[1] || "").length) : undefined;
  if (decimals !== undefined) return value.toLocaleString("en", { maximumFractionDigits: decimals });
  return value.toLocaleString("en", { maximumSignificantDigits: 6 });
}

function costText(cost) {
  return cost.toLocaleString("en", { maximumSignificantDigits: 4 });
}

// A share between 0 and 1 in percent; never 0 % or 100 % of what is not.
function shareText(share) {
  if (share > 0 && share < 0.001) return "<0.1 %";
  if (share < 1 && share > 0.999) return ">99.9 %";
  return `${(100 * share).toLocaleString("en", { maximumFractionDigits: 1 })} %`;
}

// A small share in percent with two digits, never less than it is.
function atMostText(share) {
  const unit = 10 ** (Math.floor(Math.log10(100 * share)) - 1);
  return `${Number((Math.ceil((100 * share) / unit - 1e-6) * unit).toPrecision(3))} %`;
}

// What people call a feature: its label, or the column's name without underscores.
function titleOf(feature) {
  return feature.title && feature.title !== feature.name ? feature.title : feature.name.replaceAll("_", " ");
}

// A value as a feature shows it.
function valueText(value, feature) {
  const place = feature.values?.indexOf(value) ?? -1;
  if (place >= 0 && feature.labels?.[place]) return feature.labels[place];
  if (value === null || value === undefined) return "unknown";
  if (typeof value !== "number" || place >= 0) return String(value);
  const text = numberText(value, feature.step);
  return feature.unit ? `${text} ${feature.unit}` : text;
}

// What limits can be set on: a scale of numbers from `lower` to `upper`, or of the places of ordered values; null for neither.
function scaleOf(feature) {
  if (feature.time) return null;
  if (feature.kind === "ordinal" && feature.values?.length > 2) {
    const last = feature.values.length - 1;
    const text = (place) => valueText(feature.values[place], feature);
    return { lower: 0, upper: last, step: 1, place: (value) => feature.values.indexOf(value), value: (place) => feature.values[place], text };
  }
  const { lower, upper } = feature;
  if (typeof lower !== "number" || typeof upper !== "number" || lower >= upper) return null;
  const same = (number) => (typeof number === "number" ? number : NaN);
  return { lower, upper, step: feature.step ?? fineStep(upper - lower), place: same, value: same, text: (number) => valueText(number, feature) };
}

// A round step of some two hundred to the whole width.
function fineStep(width) {
  return 10 ** Math.floor(Math.log10(width / 100));
}

// The words of a demand on likelihood, short for a scale and long for a reader.
function plausibilityText(quantile) {
  if (quantile === null) return "any row";
  return `likelier than ${shareText(quantile)}`;
}

function plausibilitySentence(quantile) {
  if (quantile === null) return "Any row will do, however unusual.";
  const rest = { 0.25: "a quarter", 0.5: "half", 0.75: "three quarters" }[quantile] ?? shareText(quantile);
  return `Answers must be as likely as ${rest} of the rows of their class, or likelier.`;
}

function counted(count, one, many = `${one}s`) {
  return `${count} ${count === 1 ? one : many}`;
}

// `a, b and c`
function joined(parts) {
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}

// A sentence in pieces, with the values of its changes marked: [["text", null], ["42", "to"], ["48", "from"], ...].
function markedSentence(sentence, changes) {
  const pieces = [];
  const named = (text, { title }) => text.replace(`${title} were `, `${title.replaceAll("_", " ")} were `);
  let rest = changes.reduce(named, sentence);
  const take = (before, text, mark) => {
    const at = rest.indexOf(before + text);
    if (at < 0 || !text) return;
    const start = at + before.length;
    pieces.push([rest.slice(0, start), null], [text, mark]);
    rest = rest.slice(start + text.length);
  };
  for (const change of changes) {
    take(" were ", change.to_text, "to");
    take("instead of ", change.from_text, "from");
  }
  const outcome = /would decide ('[^']*'|\S+?)(?: instead of ('[^']*'|\S+?))?\.$/.exec(rest);
  if (outcome) {
    take("would decide ", outcome[1], "to");
    if (outcome[2]) take("instead of ", outcome[2], "from");
  }
  return [...pieces, [rest, null]];
}

export {
  atMostText, costText, counted, joined, markedSentence, numberText, plausibilitySentence, plausibilityText, scaleOf, shareText, titleOf, valueText,
};
