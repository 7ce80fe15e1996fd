// Light, dark, or as the system has it; kept in the browser.
import { html, useState } from "../html.js";
import { Icon } from "./icons.js";

const KEY = "likely-theme";
const THEMES = ["system", "light", "dark"];

function keptTheme() {
  try {
    return THEMES.find((theme) => theme === localStorage.getItem(KEY)) ?? "system";
  } catch {
    return "system";
  }
}

function wear(theme) {
  document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // then it lasts until the page is closed
  }
}

function Theme() {
  const [theme, setTheme] = useState(keptTheme);
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
  const turn = () => {
    wear(next);
    setTheme(next);
  };
  return html`<button type="button" class="action" onClick=${turn} aria-label=${`Colours: ${theme}. Change to ${next}`} title=${`Colours: ${theme}`}>
    <${Icon} name=${theme} size=${17} />
  </button>`;
}

export { Theme, keptTheme, wear };
