import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { ApiError } from '@backlot/contract';
import { type Request, type Response, Router } from 'express';
import { findConsole } from './built-console.ts';

/** Everything comes from here, and nothing is written into the page. Files and mails are shown as what they are. */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "media-src 'self' blob:",
  "connect-src 'self'",
  "frame-src 'self' blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const forGood = 'public, max-age=31536000, immutable';
const encodings = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

interface Build {
  folder: string;
  /** Of all files, below the folder. */
  files: ReadonlySet<string>;
  page: string;
}

const openBuild = async (folder: string): Promise<Build> => ({
  folder,
  files: new Set(await readdir(folder, { recursive: true })),
  page: await readFile(join(folder, 'index.html'), 'utf8'),
});

/** As it was compressed when it was built, where the browser takes that. */
const sendFile = (req: Request, res: Response, { folder, files }: Build, name: string) => {
  const [encoding, ending] = encodings.find(
    ([encoding, ending]) => files.has(name + ending) && req.acceptsEncodings(encoding),
  ) ?? [undefined, ''];
  if (encoding) res.set('Content-Encoding', encoding);
  res.vary('Accept-Encoding').type(extname(name));
  res.set('Cache-Control', name.startsWith('assets/') ? forGood : 'public, max-age=3600');
  res.sendFile(name + ending, { root: folder, cacheControl: false });
};

/** `/console`: the page for owners, whose own addresses all lead to it. */
export const consoleRouter = (): Router => {
  let current: Build | undefined;
  const newest = async (): Promise<Build> => {
    const folder = await findConsole();
    if (folder === undefined)
      throw new ApiError('not_found', 'This installation has no console.', {
        hint: 'Build it before the start: node console/build/main.ts.',
      });
    if (current?.folder !== folder) current = await openBuild(folder);
    return current;
  };
  const router = Router();
  router.get('/{*path}', async (req, res) => {
    const name = req.path.slice(1);
    const build = current ?? (await newest());
    if (build.files.has(name) && /\.[a-z]+$/.test(name)) return sendFile(req, res, build, name);
    if (name.startsWith('assets/'))
      throw new ApiError('not_found', 'This file is of another version of the console.', {
        hint: 'Load the page again.',
      });
    res.set('Content-Security-Policy', pagePolicy).set('Cache-Control', 'no-cache');
    res
      .set('Cross-Origin-Resource-Policy', 'same-origin')
      .type('html')
      .send((await newest()).page);
  });
  return router;
};
