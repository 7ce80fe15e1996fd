// The same components in a notebook, for anywidget: questions go to the kernel as messages of the model.
import { html, render } from "./html.js";
import { overMessages } from "./messages.js";
import { App } from "./parts/app.js";
import { createStore } from "./store.js";

function drawn({ model, el }) {
  const { ask, close } = overMessages(model);
  const store = createStore(ask, model.get("about"), model.get("start"));
  const root = document.createElement("div");
  root.className = "likely in-notebook";
  root.dataset.theme = themeAround(el);
  el.append(root);
  render(html`<${App} store=${store} />`, root);
  return () => {
    render(null, root);
    store.close();
    close();
  };
}

// Notebooks have themes of their own; where none is known, the system's.
function themeAround() {
  const { jpThemeLight, vscodeThemeKind } = document.body.dataset;
  if (jpThemeLight !== undefined) return jpThemeLight === "true" ? "light" : "dark";
  if (vscodeThemeKind !== undefined) return vscodeThemeKind.includes("light") ? "light" : "dark";
  return "system";
}

export default { render: drawn };
