import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { Router } from 'express';

const files = ['sdk.js', 'sdk-uploads.js'];

/** `/sdk.js`, and what stands beside it: the client as modules that pages import as they stand. */
export const sdkRouter = (): Router => {
  const root = dirname(createRequire(import.meta.url).resolve('@backlot/client/sdk.js'));
  const router = Router();
  for (const file of files)
    router.get(`/${file}`, (_req, res) => {
      res.setHeader('Cache-Control', 'public, max-age=3600');
      res.sendFile(file, { root, cacheControl: false });
    });
  return router;
};
