import { html } from '@backlot/http';
import { Router } from 'express';
import { createPage, sendPage } from './page.ts';

/** The link's token stands behind the #, so that no server's log and no Referer holds it. */
const script = `
const link = new URLSearchParams(location.hash.slice(1));
const project = link.get('project');
const action = ['verify', 'reset', 'join', 'change-email'].find((name) => link.get(name));
const show = (id) => { document.getElementById(id).hidden = false; };
const hide = (id) => { document.getElementById(id).hidden = true; };
const say = (id, text) => { document.getElementById(id).textContent = text; };
const call = async (path, body, token) => {
  const answer = await fetch('/api/runtime/' + encodeURIComponent(project) + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...(token && { Authorization: 'Bearer ' + token }) },
    body: JSON.stringify(body),
  });
  const { error, ...content } = await answer.json();
  if (!answer.ok) throw new Error(error);
  return content;
};
const token = link.get(action);
const done = {
  verify: 'Your e-mail address is confirmed.',
  reset: 'Your password is changed. You can sign in with it.',
  join: 'You have joined. Go to the app and sign in.',
  'change-email': 'Your e-mail address is changed. Sign in with the new one from now on.',
};
const otherLink = 'Confirmed. Now follow the link in the mail to the other address.';
let account;
const join = async (form, button) => {
  const { email, password } = form.elements;
  account ??= await call('/auth/' + button.value, { email: email.value, password: password.value });
  await call('/groups/join', { token }, account.token);
};
const onSubmit = (id, send) => {
  const form = document.getElementById(id);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const button = event.submitter ?? form.querySelector('button');
    button.disabled = true;
    say('problem', '');
    try {
      const isWaiting = (await send(form, button))?.changed === false;
      history.replaceState(null, '', location.pathname);
      hide(id);
      say('result', (isWaiting ? otherLink : done[action]) + ' You may close this page.');
    } catch (error) {
      say('problem', error instanceof TypeError ? 'The server can not be reached. Try again.' : error.message);
    } finally {
      button.disabled = false;
    }
  });
};
onSubmit('verify', ({ elements }) =>
  call('/auth/verify', { token, password: elements.password.value }));
onSubmit('reset', (form) => call('/auth/reset', { token, password: form.elements.password.value }));
onSubmit('join', join);
onSubmit('change-email', ({ elements }) =>
  call('/auth/change-email/confirm', { token, password: elements.password.value }));
if (project && action) show(action);
else say('problem', 'This link is incomplete. Copy all of it from the mail.');
`;

const page = createPage(
  'Your account',
  html`<main class="narrow">
<h1>Your account</h1>
<noscript>This page needs JavaScript.</noscript>
<form id="verify" hidden>
<p>Confirm that the address to which this link was sent is yours. If somebody else has made this account, close this page.</p>
<label for="verify-password">Password of the account</label>
<input id="verify-password" name="password" type="password" autocomplete="current-password" maxlength="1024" required>
<button>Confirm e-mail address</button>
</form>
<form id="reset" hidden>
<label for="password">New password</label>
<input id="password" name="password" type="password" autocomplete="new-password" minlength="8" maxlength="128" required aria-describedby="rule">
<div id="rule">At least 8 characters.</div>
<button>Change password</button>
</form>
<form id="change-email" hidden>
<p>Confirm that your account is to have another e-mail address. If somebody else asked for this, close this page.</p>
<label for="change-password">Password of the account</label>
<input id="change-password" name="password" type="password" autocomplete="current-password" maxlength="1024" required>
<button>Change e-mail address</button>
</form>
<form id="join" hidden>
<p>Sign in to join the group that you are invited to.</p>
<label for="join-email">E-mail address</label>
<input id="join-email" name="email" type="email" autocomplete="username" required>
<label for="join-password">Password</label>
<input id="join-password" name="password" type="password" autocomplete="current-password" maxlength="128" required>
<button value="signin">Sign in and join</button>
<button value="signup">Create an account and join</button>
</form>
<p id="problem" role="alert"></p>
<p id="result" role="status"></p>
</main>`,
  script,
);

/** Where links of mails lead: /account#project=<id>&verify=<token>, or `reset`, `join` or `change-email` instead. */
export const accountRouter = (): Router => {
  const router = Router();
  router.get('/', (_req, res) => sendPage(res, page));
  return router;
};
