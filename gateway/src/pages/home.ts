import { scripts } from '@backlot/design';
import { type Html, html } from '@backlot/http';
import { Router } from 'express';
import { createPage, pageHead, sendPage } from './page.ts';
import { picture } from './picture.ts';

export interface HomeOptions {
  /** Base of absolute addresses, without a slash at the end. */
  publicUrl: string;
  state(): Promise<{ missing?: readonly string[]; degraded?: readonly string[] }>;
}

/** Each can be pasted into a shell as it stands. */
const steps = (publicUrl: string) => [
  {
    what: 'Become an owner: a user of the built-in project platform. Keep the token.',
    command: `curl -s ${publicUrl}/api/runtime/platform/auth/signup \\
  --json '{"email":"me@example.org","password":"correct horse battery"}'`,
  },
  {
    what: 'Make a project. The answer has its base address.',
    command: `curl -s ${publicUrl}/api/platform/projects \\
  -H "Authorization: Bearer $TOKEN" --json '{"name":"Todo list"}'`,
  },
  {
    what: 'Keep a record, from anywhere; the first one creates its collection.',
    command: `curl -s $BASE_URL/db/todos --json '{"data":{"title":"Buy milk"}}'
curl -s $BASE_URL/db/todos`,
  },
];

const links = [
  { path: '/console/', what: 'the console for owners: projects, data, rules, users, settings' },
  { path: '/docs/guides', what: 'guides: how to do what most apps need, step by step' },
  { path: '/docs', what: 'the API, each call with its parameters and errors' },
  { path: '/docs/openapi.json', what: 'the same for programs (OpenAPI)' },
  { path: '/llms.txt', what: 'all of it in short, for agents; /llms-full.txt has every rule' },
  { path: '/llms-owners.txt', what: 'what owners set: settings, keys, origins, the command' },
  { path: '/sdk.js', what: 'the client for browsers: import { createClient } from it' },
  { path: '/sdk.d.ts', what: 'its types, for editors and compilers' },
  {
    path: '/sdk-react.js',
    what: 'beside it: live lists, the user and a form to sign in for React',
  },
  { path: '/sdk-sign-in.js', what: 'beside it: the finished form <backlot-sign-in>' },
  { path: '/sdk-uploads.js', what: 'beside it: uploads that outlive a broken connection' },
  { path: '/packages/backlot-client.tgz', what: 'the client for npm install' },
  { path: '/packages/backlot-cli.tgz', what: 'the command for npx and npm install' },
  { path: '/api/platform/prices', what: 'what calls cost' },
  { path: '/examples/guestbook/', what: 'a guestbook, one page of HTML on the project demo' },
  { path: '/examples/board/', what: 'a board of cards for teams' },
  { path: '/examples/chat/', what: 'a chat with pictures and moderators' },
  { path: '/examples/booking/', what: 'a salon that books times' },
  { path: '/examples/react-todo/', what: 'a to-do list in React; this tells how to build it' },
  { path: '/examples/shop/', what: 'a shop with products, staff, orders and checkout' },
  { path: '/mailbox/demo', what: 'the mails of the project demo, where no mailer is set up' },
  { path: '/readyz', what: 'whether everything that calls need is there' },
];

const tiles = [
  {
    path: '/docs#guides',
    title: 'Guides',
    what: 'How to do what most apps need, step by step: records, accounts, access, files, mail, payments.',
  },
  {
    path: '/docs',
    title: 'Reference',
    what: 'Each call with its parameters, errors and limits; as OpenAPI for programs.',
  },
  {
    path: '/examples/shop/',
    title: 'A running example',
    what: 'A shop in plain HTML without a server of its own: products, staff, orders and checkout.',
  },
  {
    path: '/llms.txt',
    title: 'For coding agents',
    what: 'All of it in one short text. There are tools by MCP for each project, too.',
  },
];

const describeState = ({
  missing = [],
  degraded = [],
}: Awaited<ReturnType<HomeOptions['state']>>) => {
  if (missing.length > 0)
    return html`<p class="callout bad" role="alert">Not ready: ${missing.join(', ')} can not answer.</p>`;
  if (degraded.length > 0)
    return html`<p>Ready; works less well than it should: ${degraded.join(', ')}.</p>`;
  return html`<p>Ready: all services answer.</p>`;
};

const firstRecord = (publicUrl: string) => `<script type="module">
  import { createClient } from '${publicUrl}/sdk.js';

  const backend = createClient('${publicUrl}/api/runtime/<project>');
  await backend.db('todos').create({ title: 'Buy milk' });
  const { items } = await backend.db('todos').list({ sort: '-createdAt' });
</script>`;

const signUpForm = html`<form id="create" class="card" action="/console/sign-up">
<h2>Create your backend</h2>
<div class="field"><label for="email">E-mail address</label>
<input id="email" name="email" type="email" autocomplete="username" required></div>
<div class="field"><label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="new-password" minlength="8" maxlength="128" required aria-describedby="rule">
<div id="rule" class="hint">At least 8 characters.</div></div>
<p id="problem" class="problem" role="alert"></p>
<button class="primary large">Create your backend</button>
<p class="quiet-text">You have an account? <a href="/console/sign-in">Sign in</a></p>
</form>
<p id="again" class="row" hidden><a class="button primary large" href="/console/">Open the console</a></p>
<noscript><p>The console needs JavaScript; the API does not: see below.</p></noscript>`;

/** `/`: a page for people who come with a browser, links in JSON for programs. */
export const homeRouter = ({ publicUrl, state }: HomeOptions): Router => {
  const stepList = steps(publicUrl).map(
    ({ what, command }) => html`<li><p>${what}</p><pre tabindex="0">${command}</pre></li>`,
  );
  const linkList = links.map(
    ({ path, what }) => html`<li><a href="${path}">${path}</a>: ${what}</li>`,
  );
  const tileList = tiles.map(
    ({ path, title, what }) =>
      html`<a class="card tile" href="${path}"><h3>${title}</h3><p class="quiet-text">${what}</p></a>`,
  );
  const describe = (shown: Html) => html`${pageHead('/')}<main class="page wide far">
<section class="hero">
<div class="stack">
<h1>A backend for your app, before lunch</h1>
<p class="lead">Users, records, files, mail, payments and AI behind one address, called straight from the browser. No server of yours, and rules that say who may do what.</p>
${signUpForm}
</div>
${picture}
</section>
<section class="stack">
<h2>A first record is three lines away</h2>
<pre tabindex="0"><code>${firstRecord(publicUrl)}</code></pre>
<details><summary>The same with curl, from sign-up to record</summary>
<ol class="stack">
${stepList}
</ol></details>
</section>
<section class="stack" aria-label="Where to go on">
<div class="tiles">
${tileList}
</div>
</section>
<footer class="stack close quiet-text">
${shown}
<details><summary>All addresses of this installation</summary>
<ul>
${linkList}
</ul></details>
</footer>
</main>`;
  const router = Router();
  router.get('/', async (req, res) => {
    res.setHeader('Vary', 'Accept');
    if (!(req.headers.accept ?? '').includes('text/html')) {
      const addresses = links.map(({ path, what }) => ({ href: publicUrl + path, title: what }));
      res.json({
        name: 'Backlot',
        runtime: `${publicUrl}/api/runtime/<project>`,
        links: addresses,
      });
      return;
    }
    sendPage(
      res,
      createPage(
        'Backlot: a backend for your app',
        describe(describeState(await state())),
        scripts['sign-up'].href,
      ),
    );
  });
  return router;
};
