import { type Html, html } from '@backlot/http';
import { tokenize } from './browser/tokens.js';

const highlight = (code: string, language: string): Html =>
  html`${tokenize(code, language).map(([kind, text]) =>
    kind === '' ? html`${text}` : html`<span class="tok-${kind}">${text}</span>`,
  )}`;

/** A sentence in which what stands between backticks is code. */
export const renderText = (text: string): Html =>
  html`${text
    .split(/`([^`]+)`/)
    .map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))}`;

/** Code with its colours and a button that copies it. */
export const renderCode = (code: string, language: string, label = 'Code'): Html =>
  html`<div class="snippet"><pre tabindex="0" role="group" aria-label="${label}" data-language="${language}"><code>${highlight(code, language)}</code></pre><button class="small" type="button" data-copy>Copy</button></div>`;
