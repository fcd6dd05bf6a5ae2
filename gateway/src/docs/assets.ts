import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Router } from 'express';

const types: Readonly<Record<string, string>> = {
  js: 'text/javascript',
  css: 'text/css',
  json: 'application/json',
};
const written = [
  'theme.js',
  'main.js',
  'search.js',
  'try-it.js',
  'calls.js',
  'tokens.js',
  'docs.css',
];

export interface Assets {
  /** Below it every file stands; it changes with their content. */
  base: string;
  router: Router;
}

/** What the pages of the documentation load: files that browsers keep for good, as their address names their content. */
export const createAssets = (searchIndex: object): Assets => {
  const files = new Map<string, string>(
    written.map((name) => [
      name,
      readFileSync(new URL(`./browser/${name}`, import.meta.url), 'utf8'),
    ]),
  );
  files.set('search.json', JSON.stringify(searchIndex));
  const hash = createHash('sha256')
    .update(JSON.stringify([...files]))
    .digest('base64url');
  const version = hash.slice(0, 10);
  const router = Router();
  router.get('/:version/:name', ({ params }, res, next) => {
    const content = files.get(params.name);
    if (content === undefined) return next();
    const isCurrent = params.version === version;
    res
      .set('Cache-Control', isCurrent ? 'public, max-age=31536000, immutable' : 'no-cache')
      .type(types[params.name.split('.').at(-1) ?? ''] ?? 'text/plain')
      .send(content);
  });
  return { base: `/docs/assets/${version}`, router };
};
