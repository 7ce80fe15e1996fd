// The word that a service asks for before it answers.
import { html, useName, useState } from "../html.js";
import { keepToken } from "../http.js";

function Token({ refused, onDone }) {
  const id = useName("token");
  const [token, setToken] = useState("");
  const send = (event) => {
    event.preventDefault();
    keepToken(token.trim());
    onDone();
  };
  return html`<form class="card token" onSubmit=${send}>
    <h2>This service asks for a token</h2>
    <p class="soft">Whoever runs it has it. It is kept until this tab is closed.</p>
    <label for=${id}>Token</label>
    <input id=${id} type="password" autocomplete="off" required value=${token} onInput=${(event) => setToken(event.target.value)} />
    ${refused && html`<p role="alert" class="bad small">That token was not accepted.</p>`}
    <button type="submit" class="action strong">Continue</button>
  </form>`;
}

export { Token };
