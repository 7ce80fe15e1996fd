// The state as the part of a link after `#`: it restores what was asked, and browsers do not send it to any server.

const FIELDS = ["row", "locked", "limits", "plausibility", "k", "maxChanges", "target", "prediction", "chosen"];

function linkText(state) {
  const kept = Object.fromEntries(FIELDS.map((name) => [name, state[name]]));
  const bytes = new TextEncoder().encode(JSON.stringify(kept));
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

// The state in a link's text, or null if there is none.
function linkState(text) {
  const letters = text.replace(/^#/, "").replaceAll("-", "+").replaceAll("_", "/");
  if (!letters) return null;
  try {
    const bytes = Uint8Array.from(atob(letters), (letter) => letter.charCodeAt(0));
    const state = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return state && typeof state.row === "object" && state.row ? state : null;
  } catch {
    return null; // cut off while it was copied, or no link of this page
  }
}

export { linkState, linkText };
