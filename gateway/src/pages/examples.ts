import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import express, { type RequestHandler, Router } from 'express';

const folder = fileURLToPath(new URL('../../../examples', import.meta.url));

/** Their scripts stand in the page itself or beside it. */
const pagePolicy =
  "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'";

/** An app that is built before it runs: what its build has written, or else how to build it. */
const builtApp = (name: string): RequestHandler => {
  const root = join(folder, name);
  const built = join(root, 'dist');
  if (existsSync(built)) return express.static(built);
  return Router().get('/', (_req, res) => {
    res.type('text/plain').sendFile('README.md', { root });
  });
};

/** The example pages as they lie in the repository; nothing where the folder was left out. */
export const examplesRouter = (): Router => {
  const router = Router();
  if (!existsSync(folder)) return router;
  router.use((_req, res, next) => {
    res.setHeader('Content-Security-Policy', pagePolicy);
    next();
  });
  router.use('/react-todo', builtApp('react-todo'));
  const pages = express.static(folder);
  router.use((req, res, next) =>
    req.path.startsWith('/react-todo') ? next() : pages(req, res, next),
  );
  return router;
};
