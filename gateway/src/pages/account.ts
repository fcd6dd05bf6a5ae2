import type { IncomingMessage } from 'node:http';
import { markHref, scripts } from '@backlot/design';
import { html } from '@backlot/http';
import { Router } from 'express';
import { createPage, sendPage } from './page.ts';

const page = createPage(
  'Your account',
  html`<main class="page narrow">
<div class="stack close">
<p id="app-line" class="row" hidden><img class="mark" src="${markHref}" alt="" width="24" height="24"><strong id="app" class="cut"></strong></p>
<h1 id="title">Your account</h1>
</div>
<noscript>This page needs JavaScript.</noscript>
<form id="verify" class="stack" hidden>
<p>Confirm that the address to which this link was sent is yours. If somebody else has made this account, close this page.</p>
<div class="field"><label for="verify-password">Password of the account</label>
<input id="verify-password" name="password" type="password" autocomplete="current-password" maxlength="1024" required></div>
<button class="primary">Confirm e-mail address</button>
</form>
<form id="reset" class="stack" hidden>
<div class="field"><label for="password">New password</label>
<input id="password" name="password" type="password" autocomplete="new-password" minlength="8" maxlength="128" required aria-describedby="rule">
<div id="rule" class="hint">At least 8 characters.</div></div>
<button class="primary">Change password</button>
</form>
<form id="change-email" class="stack" hidden>
<p>Confirm that your account is to have another e-mail address. If somebody else asked for this, close this page.</p>
<div class="field"><label for="change-password">Password of the account</label>
<input id="change-password" name="password" type="password" autocomplete="current-password" maxlength="1024" required></div>
<button class="primary">Change e-mail address</button>
</form>
<form id="join" class="stack" hidden>
<div id="invitation-facts" hidden><p id="invitation"></p><p class="quiet-text">The link works once, until <time id="invitation-until"></time>.</p></div>
<p>Sign in to join, or create an account if you have none here.</p>
<div class="field"><label for="join-email">E-mail address</label>
<input id="join-email" name="email" type="email" autocomplete="username" required></div>
<div class="field"><label for="join-password">Password</label>
<input id="join-password" name="password" type="password" autocomplete="current-password" maxlength="128" required></div>
<button class="primary" value="signin">Sign in and join</button>
<button value="signup">Create an account and join</button>
</form>
<form id="sign-in" class="stack" hidden>
<p>This signs you in here, in this browser, as <strong id="sign-in-as"></strong>. Is that you? If it is not, or you asked for nothing, close this page: somebody may want you to work in an account of theirs.</p>
<p class="quiet-text">Where you asked for a code, type the one from the mail instead.</p>
<button class="primary">Yes, sign in here</button>
</form>
<form id="paste" class="stack" hidden>
<p>This page opens what a mail has a link for: confirm an address, choose a new password, join a team.</p>
<div class="field"><label for="link">Link from the mail</label>
<input id="link" name="link" class="code" autocomplete="off" spellcheck="false" required></div>
<button class="primary">Open the link</button>
</form>
<p id="problem" class="problem" role="alert"></p>
<div id="done" class="callout good" hidden><p id="result" role="status"></p></div>
<p id="way-back" hidden><a id="back" class="button" rel="noreferrer"></a> <span id="back-host" class="quiet-text"></span></p>
</main>`,
  scripts.account.href,
);

const signInPage = createPage(
  'Sign in',
  html`<main class="page narrow">
<p id="app-line" class="row" hidden><img class="mark" src="${markHref}" alt="" width="24" height="24"><strong id="app" class="cut"></strong></p>
<h1 id="title">Sign in</h1>
<noscript>This page needs JavaScript.</noscript>
<div id="form"></div>
<div id="problem" role="alert"></div>
<p id="way-back" hidden><a id="back" class="button" rel="noreferrer"></a> <span id="back-host" class="quiet-text"></span></p>
</main>`,
  scripts['sign-in'].href,
);

/** The name of this project's app and an origin of it, if one is known. @throws ApiError rate_limited, unavailable */
export type FindApp = (
  projectId: string,
  req: IncomingMessage,
) => Promise<{ name: string; url: string | undefined } | undefined>;

/**
 * Where links of mails lead: /account#project=<id>&verify=<token>, or `reset`, `join`, `change-email` or `sign-in` instead.
 * Beside it `/account/sign-in?project=<id>&returnTo=<page>&challenge=<SHA-256>`: the form, for apps that have none.
 * It leads back with a code (docs/decisions/0055).
 */
export const accountRouter = (findApp: FindApp): Router => {
  const router = Router();
  router.get('/app/:project', async (req, res) => {
    const app = await findApp(req.params.project, req);
    res.json({ name: app?.name ?? null, url: app?.url ?? null });
  });
  router.get('/sign-in', (_req, res) => sendPage(res, signInPage));
  router.get('/', (_req, res) => sendPage(res, page));
  return router;
};
