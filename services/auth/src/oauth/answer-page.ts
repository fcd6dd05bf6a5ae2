import { type HtmlPage, html } from '@backlot/http';
import type { FinishedFlow } from './oauth.ts';

/** The page that has opened the window is told, if it is of the origin that has begun; no other can read it. */
const script = `
const { origin, told, url } = document.getElementById('answer').dataset;
if (window.opener) {
  window.opener.postMessage({ type: 'backlot:oauth', ...JSON.parse(told) }, origin);
  window.close();
} else location.replace(url);
`;

/** In the window of a popup, once the provider has answered. */
export const createAnswerPage = ({ returnTo, told, url }: FinishedFlow): HtmlPage => {
  const { origin, host } = new URL(returnTo);
  return {
    title: 'Signing in',
    content: html`<main class="page narrow" id="answer" data-origin="${origin}" data-told="${JSON.stringify(told)}" data-url="${url}"><h1>Signing in</h1>
<p>You can close this window. If nothing happens in the app, go on here.</p>
<a class="button large" href="${url}" rel="noreferrer">Continue to ${host}</a></main>`,
    script,
  };
};
