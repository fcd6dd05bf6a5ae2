/**
 * One stylesheet and one mark for every page of the platform, whichever process writes it, and the scripts
 * of those that servers write. The gateway serves them; pages link them by these addresses. docs/design.md has the rules.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');

/** Every `@import` of a file beside it is replaced by that file. */
const join = (file: string): string =>
  read(`../css/${file}`).replace(/@import "\.\/([a-z]+\.css)";\n/g, (_, name: string) =>
    join(name),
  );

export const stylesheet: string = join('backlot.css');
export const mark: string = read('../mark.svg');

const versioned = (path: string, content: string) =>
  `${path}?v=${createHash('sha256').update(content).digest('base64url').slice(0, 10)}`;

/** Change with their content, so that a browser may keep what it got for good. */
export const stylesheetHref: string = versioned('/design/backlot.css', stylesheet);
export const markHref: string = versioned('/design/mark.svg', mark);

export interface Script {
  /** `/design/<name>.js`, which changes with the content too. */
  href: string;
  content: string;
}

const script = (name: string): Script => {
  const content = read(`../browser/${name}.js`);
  return { href: versioned(`/design/${name}.js`, content), content };
};

/** Modules of pages that servers write; the policy of such a page has `script-src 'self'`. */
export const scripts = {
  account: script('account'),
  mailbox: script('mailbox'),
  'sign-in': script('sign-in'),
  'sign-up': script('sign-up'),
  times: script('times'),
} as const;

/** Inside `head`: for pages whose policy has `style-src 'self'` and `img-src 'self'`. */
export const headLinks = `<link rel="stylesheet" href="${stylesheetHref}">
<link rel="icon" href="${markHref}" type="image/svg+xml">`;
