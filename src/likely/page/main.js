// The page of `likely serve`: asks over HTTP, and keeps its state in the part of the address after `#`.
import { effect, html, render } from "./html.js";
import { overHttp } from "./http.js";
import { linkState, linkText } from "./link.js";
import { App } from "./parts/app.js";
import { keptTheme, wear } from "./parts/theme.js";
import { Token } from "./parts/token.js";
import { createStore } from "./store.js";

const root = document.getElementById("likely");
const ask = overHttp();

async function begin(refused = false) {
  let about;
  try {
    about = await ask("/about");
  } catch (error) {
    if (error.status === 401) render(html`<main class="alone"><${Token} refused=${refused} onDone=${() => begin(true)} /></main>`, root);
    else render(html`<${Unreachable} error=${error} />`, root);
    return;
  }
  open(about);
}

function Unreachable({ error }) {
  return html`<main class="alone"><div class="card" role="alert">
    <h1>The service cannot be reached</h1>
    <p>${error.message}</p>
    <button type="button" class="action strong" onClick=${() => begin()}>Try again</button>
  </div></main>`;
}

function open(about) {
  const store = createStore(ask, about, linkState(location.hash));
  document.title = `${about.title} · likely`;
  let timer = 0;
  let written = location.hash;
  effect(() => {
    const text = `#${linkText(store.state())}`;
    clearTimeout(timer);
    timer = setTimeout(() => {
      written = text;
      history.replaceState(null, "", text);
    }, 250);
  });
  addEventListener("hashchange", () => {
    const state = location.hash === written ? null : linkState(location.hash);
    if (state) store.restore(state);
  });
  const link = () => `${location.origin}${location.pathname}#${linkText(store.state())}`;
  render(null, root);
  render(html`<${App} store=${store} link=${link} />`, root);
}

wear(keptTheme());
begin();
