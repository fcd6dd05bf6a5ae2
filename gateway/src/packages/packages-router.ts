import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Router } from 'express';
import { createTar } from 'nanotar';
import { type PublishedPackage, publishedPackages, readPublishedFiles } from './published-files.ts';

/** Bytes that are the same in every process, because lockfiles keep their hash. */
const attributes = { mtime: 0, uid: 0, gid: 0, mode: '644' };

const pack = async (name: PublishedPackage, publicUrl: string): Promise<Buffer> => {
  const files = await readPublishedFiles(name, publicUrl);
  const tar = createTar(
    files.map(({ path, content }) => ({ name: `package/${path}`, data: content })),
    { attrs: attributes },
  );
  return promisify(gzip)(tar);
};

/** `/packages/backlot-client.tgz` and `-cli.tgz`, which `npm install` and `npx` take by address. */
export const packagesRouter = (publicUrl: string): Router => {
  const router = Router();
  for (const name of publishedPackages) {
    let packed: Promise<Buffer> | undefined;
    router.get(`/backlot-${name}.tgz`, async (_req, res) => {
      packed ??= pack(name, publicUrl).catch((error: unknown) => {
        packed = undefined;
        throw error;
      });
      res
        .set('Cache-Control', 'public, max-age=3600')
        .type('application/gzip')
        .send(await packed);
    });
  }
  return router;
};
