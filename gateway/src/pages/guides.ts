import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Html, html } from '@backlot/http';
import { Router } from 'express';
import { marked } from 'marked';
import { createPage, type Page, sendPage } from './page.ts';

const folder = fileURLToPath(new URL('../../../docs/guides', import.meta.url));

/** Stands in the guides for the installation's own address. */
const placeholder = 'https://backlot.example';

/** In the order in which a newcomer meets them; one that is not named here comes last. */
const order = [
  'records',
  'accounts',
  'access',
  'teams',
  'files',
  'ai',
  'mail',
  'payments',
  'agents',
];

const position = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length);

interface Guide {
  name: string;
  title: string;
  page: Page;
}

const readGuide = (name: string, publicUrl: string): Guide => {
  const text = readFileSync(join(folder, `${name}.md`), 'utf8').replaceAll(placeholder, publicUrl);
  const title = /^# (.+)$/m.exec(text)?.[1] ?? name;
  const content = new Html(marked.parse(text, { async: false }));
  const nav = html`<nav><a href="/">Backlot</a> · <a href="/docs/guides">Guides</a> · <a href="/docs">Reference</a></nav>`;
  return {
    name,
    title,
    page: createPage(`${title} · Backlot`, html`${nav}<main>${content}</main>`),
  };
};

/**
 * `/docs/guides`: how to do what most apps need; nothing where the folder was left out. Each snippet of
 * JavaScript is run by a test.
 */
export const guidesRouter = (publicUrl: string): Router => {
  const router = Router();
  if (!existsSync(folder)) return router;
  const guides = readdirSync(folder)
    .filter((file) => file.endsWith('.md'))
    .map((file) => readGuide(file.slice(0, -'.md'.length), publicUrl))
    .sort((a, b) => position(a.name) - position(b.name) || a.name.localeCompare(b.name));
  const list = guides.map(
    ({ name, title }) => html`<li><a href="/docs/guides/${name}">${title}</a></li>`,
  );
  const index = createPage(
    'Guides · Backlot',
    html`<nav><a href="/">Backlot</a> · <a href="/docs">Reference</a></nav><main><h1>Guides</h1><ul>${list}</ul></main>`,
  );
  router.get('/', (_req, res) => sendPage(res, index));
  for (const { name, page } of guides) router.get(`/${name}`, (_req, res) => sendPage(res, page));
  return router;
};
