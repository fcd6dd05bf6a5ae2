import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { Router } from 'express';

const modules = ['sdk', 'sdk-uploads', 'sdk-react', 'sdk-sign-in'];
const files = [
  ...modules.flatMap((name) => [`${name}.js`, `${name}.js.map`, `${name}.d.ts`]),
  // Loaded by sdk.js alone, which has their types.
  ...['sdk-live', 'sdk-accounts', 'sdk-proof'].flatMap((name) => [`${name}.js`, `${name}.js.map`]),
];
/** `.ts` stands for a video elsewhere. */
const types: readonly (readonly [string, string])[] = [
  ['.d.ts', 'text/plain; charset=utf-8'],
  ['.map', 'application/json'],
];

/** `/sdk.js`, and what stands beside it: the client as modules that pages import as they stand, with types and source maps. */
export const sdkRouter = (): Router => {
  const root = dirname(createRequire(import.meta.url).resolve('@backlot/client/sdk.js'));
  const router = Router();
  for (const file of files)
    router.get(`/${file}`, (_req, res) => {
      res.setHeader('Cache-Control', 'public, max-age=3600');
      const type = types.find(([ending]) => file.endsWith(ending));
      if (type) res.setHeader('Content-Type', type[1]);
      // Where Deno looks for types.
      else if (files.includes(file.replace(/js$/, 'd.ts')))
        res.setHeader('X-TypeScript-Types', `/${file.replace(/js$/, 'd.ts')}`);
      res.sendFile(file, { root, cacheControl: false });
    });
  return router;
};
