// Take it along: a report as a file, a print, a link that restores everything.
import { html, useState } from "../html.js";
import { Icon } from "./icons.js";

function Actions({ store, link }) {
  const [said, setSaid] = useState("");
  const tell = (text) => {
    setSaid(text);
    setTimeout(() => setSaid(""), 3500);
  };
  const download = async () => {
    tell("The report is being written …");
    try {
      save(await store.report(), "explanation.html");
      tell("The report is downloaded.");
    } catch (error) {
      tell(error.message);
    }
  };
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(link());
      tell("The link is copied. It holds the row's values.");
    } catch {
      tell("The address of this page is the link: copy it from the address bar.");
    }
  };
  return html`<div class="actions">
    <span class="said small" role="status">${said}</span>
    ${link && html`<${Action} icon="link" name="Copy link" onClick=${copy} />`}
    ${link && html`<${Action} icon="print" name="Print" onClick=${() => window.print()} />`}
    <${Action} icon="download" name="Report" onClick=${download} strong />
  </div>`;
}

function Action({ icon, name, onClick, strong }) {
  return html`<button type="button" class=${strong ? "action strong" : "action"} onClick=${onClick} aria-label=${name}>
    <${Icon} name=${icon} size=${17} /><span>${name}</span>
  </button>`;
}

function save(text, name) {
  const address = URL.createObjectURL(new Blob([text], { type: "text/html" }));
  const anchor = Object.assign(document.createElement("a"), { href: address, download: name });
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

export { Actions };
