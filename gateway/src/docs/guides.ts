import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { escapeHtml } from '@backlot/http';
import { Marked } from 'marked';
import { renderCode } from './code.ts';

const docs = new URL('../../../docs/', import.meta.url);

/** Stands in the guides for the installation's own address. */
const placeholder = 'https://backlot.example';

/** In the order in which a newcomer meets them; one that is not named here comes last. */
const order = [
  'quick-start-html',
  'quick-start-react',
  'quick-start-vue',
  'quick-start-agents',
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

export interface Section {
  id: string;
  title: string;
  /** Without markup, for those who search. */
  text: string;
}

export interface Guide {
  name: string;
  path: string;
  title: string;
  /** Of its text below the title. */
  html: string;
  sections: readonly Section[];
  /** What stands above the first section, without markup. */
  intro: string;
}

const toId = (title: string) =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '');

/** `../owners.md#schemas` is /docs/rules/owners#schemas; what is served nowhere leads nowhere. */
const toHref = (href: string): string | undefined => {
  if (/^(https?:|mailto:|#|\/)/.test(href)) return href;
  const [path = '', hash] = href.split('#');
  const name = path.replace(/^(\.\.?\/)+/, '').replace(/\.md$/, '');
  const end = hash === undefined ? '' : `#${hash}`;
  if (name === 'openapi.json') return '/docs/openapi.json';
  if (name === 'api' || name === 'owners') return `/docs/rules/${name}${end}`;
  return existsSync(new URL(`guides/${name}.md`, docs)) ? `/docs/guides/${name}${end}` : undefined;
};

const render = (markdown: string) => {
  const sections: Section[] = [];
  const marked = new Marked({
    renderer: {
      code: ({ text, lang = '' }) => renderCode(text, lang).text,
      heading({ tokens, depth }) {
        const text = this.parser.parseInline(tokens);
        const title = text.replace(/<[^>]*>/g, '');
        if (depth < 2) return '';
        const id = toId(title);
        sections.push({ id, title, text: '' });
        return `<h${depth} id="${id}"><a class="anchor" href="#${id}">${text}</a></h${depth}>\n`;
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const target = toHref(href);
        return target === undefined ? text : `<a href="${escapeHtml(target)}">${text}</a>`;
      },
      table(token) {
        const cell = (tag: string, { tokens }: (typeof token.header)[number]) =>
          `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`;
        const head = token.header.map((one) => cell('th', one)).join('');
        const rows = token.rows.map(
          (row) => `<tr>${row.map((one) => cell('td', one)).join('')}</tr>`,
        );
        return `<div class="scroll-x" tabindex="0" role="group" aria-label="Table"><table class="table"><thead><tr>${head}</tr></thead><tbody>${rows.join('')}</tbody></table></div>`;
      },
    },
  });
  const html = marked.parse(markdown, { async: false });
  return { html, sections };
};

/** The text above the first heading of a guide and below each, as one searches it. */
const readSections = (markdown: string, sections: readonly Section[]) => {
  const parts = markdown
    .split(/^#{2,} .*$/m)
    .map((part) => part.replace(/[`*_|#[\]]+/g, ' ').replace(/\s+/g, ' '));
  return {
    intro: parts[0] ?? '',
    sections: sections.map((section, index) => ({ ...section, text: parts[index + 1] ?? '' })),
  };
};

const read = (file: string, path: string, publicUrl: string): Guide => {
  const text = readFileSync(new URL(file, docs), 'utf8').replaceAll(placeholder, publicUrl);
  const name = path.split('/').at(-1) ?? '';
  const title = /^# (.+)$/m.exec(text)?.[1] ?? name;
  const { html, sections } = render(text);
  return { name, path, title, html, ...readSections(text, sections) };
};

/** How to do what most apps need; none where the folder was left out. A test runs each snippet of JavaScript. */
export const readGuides = (publicUrl: string): Guide[] => {
  const folder = new URL('guides/', docs);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((file) => file.endsWith('.md'))
    .map((file) =>
      read(`guides/${file}`, `/docs/guides/${file.slice(0, -'.md'.length)}`, publicUrl),
    )
    .sort((a, b) => position(a.name) - position(b.name) || a.name.localeCompare(b.name));
};

/** Every rule of the API, as the texts for agents have them. */
export const readRules = (publicUrl: string): Guide[] =>
  ['api', 'owners'].map((name) => read(`${name}.md`, `/docs/rules/${name}`, publicUrl));
