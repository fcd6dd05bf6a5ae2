import { mark, markHref, scripts, stylesheet, stylesheetHref } from '@backlot/design';
import { type Response, Router } from 'express';

/** An hour at the bare address; for good at the one that changes with the content. */
const send = (res: Response, href: string, type: string, content: string) => {
  const isCurrent = res.req.originalUrl === href;
  const caching = isCurrent ? 'public, max-age=31536000, immutable' : 'public, max-age=3600';
  res.set('Cache-Control', caching).type(type).send(content);
};

/** `/design/backlot.css` and `/design/mark.svg`, which every page of the platform links, and the scripts of pages. */
export const designRouter = (): Router => {
  const router = Router();
  router.get('/backlot.css', (_req, res) => send(res, stylesheetHref, 'text/css', stylesheet));
  router.get('/mark.svg', (_req, res) => send(res, markHref, 'image/svg+xml', mark));
  for (const [name, { href, content }] of Object.entries(scripts))
    router.get(`/${name}.js`, (_req, res) => send(res, href, 'text/javascript', content));
  return router;
};
