import { createHash } from 'node:crypto';
import { Router } from 'express';

const style = `
:root { color-scheme: light dark; --line: #6b7280; --accent: #1d4ed8; --on-accent: #fff; --bad: #b91c1c; }
@media (prefers-color-scheme: dark) { :root { --line: #9ca3af; --accent: #93c5fd; --on-accent: #111827; --bad: #fca5a5; } }
body { max-width: 30rem; margin: 0 auto; padding: 2rem 1rem; font: 1rem/1.5 system-ui, sans-serif; }
h1 { font-size: 1.4rem; }
label { display: block; font-weight: 600; }
input { box-sizing: border-box; width: 100%; padding: .6rem; margin: .3rem 0 .3rem; border: 1px solid var(--line); border-radius: .4rem; font: inherit; }
button { margin-top: 1rem; padding: .7rem 1.4rem; border: 0; border-radius: .4rem; background: var(--accent); color: var(--on-accent); font: inherit; font-weight: 600; cursor: pointer; }
button:disabled { opacity: .6; cursor: default; }
[role=alert] { color: var(--bad); }
`;

/** The link's token stands behind the #, so that no server's log and no Referer holds it. */
const script = `
const link = new URLSearchParams(location.hash.slice(1));
const project = link.get('project');
const action = ['verify', 'reset'].find((name) => link.get(name));
const show = (id) => { document.getElementById(id).hidden = false; };
const hide = (id) => { document.getElementById(id).hidden = true; };
const say = (id, text) => { document.getElementById(id).textContent = text; };
const call = async (body) => {
  const answer = await fetch('/api/runtime/' + encodeURIComponent(project) + '/auth/' + action, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ token: link.get(action), ...body }),
  });
  if (!answer.ok) throw new Error((await answer.json()).error);
};
const done = { verify: 'Your e-mail address is confirmed.', reset: 'Your password is changed. You can sign in with it.' };
const onSubmit = (id, readBody) => {
  const form = document.getElementById(id);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const button = form.querySelector('button');
    button.disabled = true;
    say('problem', '');
    try {
      await call(readBody(form));
      history.replaceState(null, '', location.pathname);
      hide(id);
      say('result', done[action] + ' You may close this page.');
    } catch (error) {
      say('problem', error instanceof TypeError ? 'The server can not be reached. Try again.' : error.message);
    } finally {
      button.disabled = false;
    }
  });
};
onSubmit('verify', () => ({}));
onSubmit('reset', (form) => ({ password: form.elements.password.value }));
if (project && action) show(action);
else say('problem', 'This link is incomplete. Copy all of it from the mail.');
`;

const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Your account</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>Your account</h1>
<noscript>This page needs JavaScript.</noscript>
<form id="verify" hidden>
<p>Confirm that the address to which this link was sent is yours.</p>
<button>Confirm e-mail address</button>
</form>
<form id="reset" hidden>
<label for="password">New password</label>
<input id="password" name="password" type="password" autocomplete="new-password" minlength="8" maxlength="128" required aria-describedby="rule">
<div id="rule">At least 8 characters.</div>
<button>Change password</button>
</form>
<p id="problem" role="alert"></p>
<p id="result" role="status"></p>
</main>
<script>${script}</script>
</body>
</html>
`;

const cspHash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const policy = `default-src 'none'; script-src ${cspHash(script)}; style-src ${cspHash(style)}; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

/** Where links of mails lead: /account#project=<id>&verify=<token>. */
export const accountRouter = (): Router => {
  const router = Router();
  router.get('/', (_req, res) => {
    res.writeHead(200, {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Length': Buffer.byteLength(page),
      'Content-Security-Policy': policy,
      'Cache-Control': 'no-store',
    });
    res.end(page);
  });
  return router;
};
