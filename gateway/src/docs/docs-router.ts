import type { ServerResponse } from 'node:http';
import { Router } from 'express';
import { createAssets } from './assets.ts';
import { type Description, sendDescription } from './description.ts';
import { renderPage } from './layout.ts';
import type { ApiDescription } from './operations.ts';
import { createSite } from './site.ts';

/** Everything comes from here, and nothing stands in the page itself. */
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const send = (res: ServerResponse, text: string) => {
  res.writeHead(200, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    'Content-Security-Policy': policy,
    'Cache-Control': 'public, max-age=300',
  });
  res.end(text);
};

/**
 * `/docs`: guides, rules and a page for each operation of the API, written here and changed in the browser only
 * by small scripts that search, copy and try a call. Read and written when the first page is asked for.
 */
export const docsRouter = (
  apiDescription: object,
  description: Description,
  publicUrl: string,
): Router => {
  const create = () => {
    const { pages, searchIndex } = createSite(apiDescription as ApiDescription, publicUrl);
    const assets = createAssets(searchIndex);
    return { pages, assets, byPath: new Map(pages.map((page) => [page.path, page])) };
  };
  let site: ReturnType<typeof create> | undefined;
  /** By path: as many as there are pages. */
  const written = new Map<string, string>();
  const router = Router();
  router.get('/openapi.json', (_req, res) => {
    res.setHeader('Cache-Control', 'public, max-age=3600');
    sendDescription(res, description.general);
  });
  router.use('/assets', (req, res, next) => {
    site ??= create();
    site.assets.router(req, res, next);
  });
  router.get('/guides', (_req, res) => res.redirect(308, '/docs#guides'));
  router.get('/{*page}', (req, res, next) => {
    site ??= create();
    const { pages, assets, byPath } = site;
    const path = `/docs${req.path}`.replace(/\/+$/, '');
    const page = byPath.get(path);
    if (!page) return next();
    const text = written.get(path) ?? renderPage(pages, page, { assets: assets.base, publicUrl });
    written.set(path, text);
    send(res, text);
  });
  return router;
};
