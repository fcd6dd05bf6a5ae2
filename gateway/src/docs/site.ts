import { Html, html } from '@backlot/http';
import { renderCode, renderText } from './code.ts';
import { fieldNames } from './fields.ts';
import { type Group, groups } from './groups.ts';
import { type Guide, readGuides, readRules } from './guides.ts';
import type { DocsPage } from './layout.ts';
import { renderOperation } from './operation-page.ts';
import { type ApiDescription, type Operation, readOperations } from './operations.ts';

const chapters = { runtime: 'API for apps', platform: 'API for owners' } as const;

const guidePage = (guide: Guide, chapter: string): DocsPage => ({
  path: guide.path,
  title: guide.title,
  chapter,
  render: () => ({
    content: html`<article class="prose"><h1>${guide.title}</h1>${new Html(guide.html)}</article>`,
    sections: guide.sections,
  }),
});

const groupPage = (group: Group, operations: readonly Operation[]): DocsPage => ({
  path: `/docs/api/${group.name}`,
  title: group.title,
  chapter: chapters[group.plane],
  group: group.name,
  render: () => {
    const rows = operations.map(
      ({ id, title, method, path, summary }) =>
        html`<li><a href="/docs/api/${id}"><strong>${title}</strong> <span class="docs-call"><span class="method" data-method="${method}">${method}</span> <code>${path}</code></span>${summary === title ? new Html('') : html`<span class="quiet-text">${renderText(summary)}</span>`}</a></li>`,
    );
    return {
      content: html`<article class="prose"><p class="docs-path-up"><a href="/docs">Docs</a></p><h1>${group.title}</h1><p>${group.summary}</p><ul class="docs-calls">${rows}</ul></article>`,
    };
  },
});

const tile = (path: string, title: string, text: string) =>
  html`<a class="card" href="${path}"><strong>${title}</strong><span class="quiet-text">${text}</span></a>`;

const firstSteps = (publicUrl: string) => `import { createClient } from '${publicUrl}/sdk.js';

const backlot = createClient('${publicUrl}/api/runtime/demo');
await backlot.db('todos').create({ title: 'Buy milk', stars: 2 });
const { items } = await backlot.db('todos').list({ sort: '-stars' });
console.log(items);`;

const startPage = (
  publicUrl: string,
  guides: readonly Guide[],
  shown: readonly Group[],
): DocsPage => ({
  path: '/docs',
  title: 'Overview',
  chapter: 'Start',
  render: () => {
    const tiles = (plane: Group['plane']) =>
      shown
        .filter((group) => group.plane === plane)
        .map(({ name, title, summary }) => tile(`/docs/api/${name}`, title, summary));
    const quick = guides.filter(({ name }) => name.startsWith('quick-start-'));
    const others = guides.filter((guide) => !quick.includes(guide));
    const links = (list: readonly Guide[], name = '') =>
      html`<ul class="${name}">${list.map(({ path, title }) => html`<li><a href="${path}">${title.replace('Quick start: ', '')}</a></li>`)}</ul>`;
    return {
      content: html`<article class="prose docs-start"><h1>Documentation</h1>
<p>Each project has its own JSON API with accounts, records, files, mail, payments and AI text, which a page calls straight from the browser. Its base address is <code>${publicUrl}/api/runtime/&lt;project&gt;</code>.</p>
${renderCode(firstSteps(publicUrl), 'js', 'First steps')}
<h2 id="quick-starts">Quick starts</h2>${links(quick)}
<h2 id="guides">Guides</h2>${links(others, 'columns')}
<h2 id="apps">API for apps</h2><div class="tiles">${tiles('runtime')}</div>
<h2 id="owners">API for owners</h2><div class="tiles">${tiles('platform')}</div>
<h2 id="programs">For programs and agents</h2>
<ul><li><a href="/docs/openapi.json">openapi.json</a>: every call, for programs</li><li><a href="/llms.txt">llms.txt</a>: all of it in short; <a href="/llms-full.txt">llms-full.txt</a>: with every rule; <a href="/llms-owners.txt">llms-owners.txt</a>: what owners set</li><li><a href="/sdk.js">sdk.js</a> and <a href="/sdk.d.ts">sdk.d.ts</a>: the client and its types</li></ul></article>`,
    };
  },
});

export interface Found {
  path: string;
  title: string;
  /** What it belongs to. */
  within: string;
  text: string;
  method?: string;
}

export interface Site {
  pages: readonly DocsPage[];
  searchIndex: readonly Found[];
}

/** All pages in the order in which one leads to the next, and what can be searched in them. */
export const createSite = (description: ApiDescription, publicUrl: string): Site => {
  const operations = readOperations(description);
  const schemas = description.components?.schemas ?? {};
  const anyFailure = description.components?.responses?.Failure?.description ?? '';
  const [guides, rules] = [readGuides(publicUrl), readRules(publicUrl)];
  const shown = groups.filter((group) => operations.some((one) => one.group === group));
  const options = { schemas, anyFailure, publicUrl };
  const operationPage = (operation: Operation): DocsPage => ({
    path: `/docs/api/${operation.id}`,
    title: operation.title,
    chapter: chapters[operation.group.plane],
    group: operation.group.name,
    method: operation.method,
    render: () => ({ content: renderOperation(operation, options) }),
  });
  const isQuick = ({ name }: Guide) => name.startsWith('quick-start-');
  const pages = [
    startPage(publicUrl, guides, shown),
    ...guides.filter(isQuick).map((guide) => guidePage(guide, 'Start')),
    ...guides.filter((guide) => !isQuick(guide)).map((guide) => guidePage(guide, 'Guides')),
    ...rules.map((guide) => guidePage(guide, 'Every rule')),
    ...shown.flatMap((group) => {
      const inGroup = operations.filter((one) => one.group === group);
      return [groupPage(group, inGroup), ...inGroup.map(operationPage)];
    }),
  ];
  const searchIndex: Found[] = [
    ...operations.map(
      ({ id, title, method, path, summary, parameters, body, failures, group }) => ({
        path: `/docs/api/${id}`,
        title,
        within: group.title,
        method,
        text: [
          id,
          path,
          summary,
          ...parameters.map(({ name }) => name),
          ...fieldNames(body?.schema, schemas),
          ...failures.flatMap(({ codes }) => codes),
        ].join(' '),
      }),
    ),
    ...[...guides, ...rules].flatMap((guide) => [
      { path: guide.path, title: guide.title, within: 'Guide', text: guide.intro },
      ...guide.sections.map(({ id, title, text }) => ({
        path: `${guide.path}#${id}`,
        title: title.replaceAll('&#39;', "'").replaceAll('&quot;', '"').replaceAll('&amp;', '&'),
        within: guide.title,
        text,
      })),
    ]),
  ];
  return { pages, searchIndex };
};
