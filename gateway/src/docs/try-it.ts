import { Html, html } from '@backlot/http';
import { isSwitch } from './fields.ts';
import type { Operation, Parameter } from './operations.ts';

const nothing = new Html('');

const input = ({ name, in: place, required, schema, example }: Parameter): Html => {
  const id = `${place}-${name}`;
  const value = example === undefined ? '' : String(example);
  const values = isSwitch(schema) ? ['1', '0'] : (schema.enum ?? []);
  const control =
    values.length > 0
      ? html`<select id="${id}" name="${place}:${name}">${required ? nothing : html`<option value="">not sent</option>`}${values.map((one) => html`<option>${String(one)}</option>`)}</select>`
      : html`<input id="${id}" name="${place}:${name}" class="code" value="${value}" autocomplete="off" spellcheck="false"${required ? new Html(' required') : nothing}>`;
  return html`<div class="field"><label for="${id}">${name}</label>${control}</div>`;
};

const bodyField = ({ body }: Operation): Html => {
  if (!body) return nothing;
  if (body.type === 'application/json')
    return html`<div class="field"><label for="body">Body</label><textarea id="body" name="body" class="code" rows="8" spellcheck="false">${JSON.stringify(body.example ?? {}, null, 2)}</textarea></div>`;
  return html`<div class="field"><label for="file">File</label><input id="file" name="file" type="file" required></div>`;
};

/** Pages, and calls that only a provider makes, are for nobody to try. */
const canBeTried = ({ id, answers, body }: Operation): boolean =>
  !answers.some(({ types }) => types.includes('text/html')) &&
  body?.type !== 'application/x-www-form-urlencoded' &&
  !['receiveWebhook', 'receiveSendgridEvents'].includes(id);

const project = html`<details class="docs-box">
<summary>Your project</summary>
<div class="stack close">
<div class="field"><label for="base">Base address</label><input id="base" class="code" autocomplete="off" spellcheck="false" aria-describedby="base-problem"><p id="base-problem" class="problem" role="alert"></p></div>
<div class="field"><label for="token">Token</label><input id="token" class="code" type="password" autocomplete="off" aria-describedby="token-hint">
<p id="token-hint" class="hint">Of a user or an owner, or a secret key. This tab keeps it until you close it.</p></div>
<div class="row"><button id="forget" class="small" type="button">Forget both</button></div>
</div>
</details>`;

/** A form that makes the call; what the reader enters changes the examples too. */
export const renderTryIt = (operation: Operation): Html => {
  const { method, path, group, body, needsToken, parameters } = operation;
  if (!canBeTried(operation)) return nothing;
  const required = parameters.filter((one) => one.required);
  const optional = parameters.filter((one) => !one.required);
  const more =
    optional.length > 0
      ? html`<details class="docs-box"><summary>${optional.length} optional ${optional.length === 1 ? 'parameter' : 'parameters'}</summary><div class="stack close">${optional.map(input)}</div></details>`
      : nothing;
  return html`<section class="docs-try" aria-labelledby="try-title">
<h2 id="try-title">Try it</h2>
${project}
<form id="try" class="stack" data-method="${method}" data-path="${path}" data-plane="${group.plane}" data-body="${body?.type ?? ''}" data-needs-token="${needsToken ? '1' : ''}" novalidate>
${required.map(input)}${more}${bodyField(operation)}
<div class="row"><button class="${method === 'DELETE' ? 'danger' : 'primary'}">Send ${method}</button><button id="stop" type="button" hidden>Stop</button></div>
<p id="try-problem" class="problem" role="alert"></p>
</form>
<div id="answer" class="stack close" hidden>
<p class="row"><span id="answer-status" class="badge" role="status"></span> <span id="answer-facts" class="quiet-text"></span></p>
<div class="snippet"><pre tabindex="0" role="group" aria-label="Answer"><code id="answer-body"></code></pre><button class="small" type="button" data-copy>Copy</button></div>
<div id="answer-offers" class="row"></div>
</div>
</section>`;
};
