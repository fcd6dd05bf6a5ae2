import { html } from '@backlot/http';
import { Router } from 'express';
import { createPage, sendPage } from './page.ts';

export interface HomeOptions {
  /** Base of absolute addresses, without a slash at the end. */
  publicUrl: string;
  state(): Promise<{ missing: readonly string[]; degraded: readonly string[] }>;
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
  { path: '/docs/guides', what: 'guides: how to do what most apps need, step by step' },
  { path: '/docs', what: 'the API, each call with its parameters and errors' },
  { path: '/docs/openapi.json', what: 'the same for programs (OpenAPI)' },
  { path: '/llms.txt', what: 'all of it in short, for agents; /llms-full.txt has every rule' },
  { path: '/sdk.js', what: 'the client for browsers: import { createClient } from it' },
  { path: '/sdk.d.ts', what: 'its types, for editors and compilers' },
  { path: '/sdk-uploads.js', what: 'beside it: uploads that outlive a broken connection' },
  { path: '/packages/backlot-client.tgz', what: 'the client for npm install' },
  { path: '/packages/backlot-cli.tgz', what: 'the command for npx and npm install' },
  { path: '/api/platform/prices', what: 'what calls cost' },
  { path: '/examples/guestbook/', what: 'a guestbook, one page of HTML on the project demo' },
  { path: '/examples/board/', what: 'a board of cards for teams' },
  { path: '/examples/react-todo/', what: 'a to-do list in React; this tells how to build it' },
  { path: '/examples/shop/', what: 'a shop with products, staff, orders and checkout' },
  { path: '/mailbox/demo', what: 'the mails of the project demo, where no mailer is set up' },
  { path: '/readyz', what: 'whether everything that calls need is there' },
];

const describeState = ({ missing, degraded }: Awaited<ReturnType<HomeOptions['state']>>) => {
  if (missing.length > 0)
    return html`<p role="alert">Not ready: ${missing.join(', ')} can not answer.</p>`;
  if (degraded.length > 0)
    return html`<p>Ready; works less well than it should: ${degraded.join(', ')}.</p>`;
  return html`<p>Ready: all services answer.</p>`;
};

/** `/`: a page for people who come with a browser, links in JSON for programs. */
export const homeRouter = ({ publicUrl, state }: HomeOptions): Router => {
  const stepList = steps(publicUrl).map(
    ({ what, command }) => html`<li><p>${what}</p><pre>${command}</pre></li>`,
  );
  const linkList = links.map(
    ({ path, what }) => html`<li><a href="${path}">${path}</a>: ${what}</li>`,
  );
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
    const page = createPage(
      'Backlot',
      html`<main>
<h1>Backlot</h1>
<p>The backend of many apps: each project has its own JSON API with accounts, records, AI text, files, e-mail and payments, called straight from the browser with <code>fetch</code>.</p>
${describeState(await state())}
<h2>Start in three steps</h2>
<ol>
${stepList}
</ol>
<h2>What is here</h2>
<ul>
${linkList}
</ul>
</main>`,
    );
    sendPage(res, page);
  });
  return router;
};
