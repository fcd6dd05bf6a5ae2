import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import express, { Router } from 'express';

const folder = fileURLToPath(new URL('../../../examples', import.meta.url));

/** Their scripts stand in the page itself or beside it. */
const pagePolicy =
  "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'";

/** The example pages as they lie in the repository; nothing where the folder was left out. */
export const examplesRouter = (): Router => {
  const router = Router();
  if (!existsSync(folder)) return router;
  router.use((_req, res, next) => {
    res.setHeader('Content-Security-Policy', pagePolicy);
    next();
  });
  router.use(express.static(folder));
  return router;
};
