import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { Router } from 'express';

/** `/sdk.js`: the client as a module that pages import as it stands. */
export const sdkRouter = (): Router => {
  const root = dirname(createRequire(import.meta.url).resolve('@backlot/client/sdk.js'));
  const router = Router();
  router.get('/sdk.js', (_req, res) => {
    res.setHeader('Cache-Control', 'public, max-age=3600');
    res.sendFile('sdk.js', { root, cacheControl: false });
  });
  return router;
};
