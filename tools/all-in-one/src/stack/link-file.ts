import { readFile, unlink } from 'node:fs/promises';
import { z } from 'zod';
import type { LinkCode } from '../owner-link.ts';
import { writeWhole } from '../secrets.ts';

const schema = z.object({
  code: z.string(),
  owner: z.object({ email: z.string(), password: z.string() }),
});
export type LinkFile = z.infer<typeof schema>;

const isMissing = (error: NodeJS.ErrnoException) => {
  if (error.code === 'ENOENT') return undefined;
  throw error;
};

export const writeLinkFile = (file: string, link: LinkFile): Promise<void> =>
  writeWhole(file, JSON.stringify(link));

/** Undefined where the link is used. */
export const readLinkFile = async (file: string): Promise<LinkFile | undefined> => {
  const text = await readFile(file, 'utf8').catch(isMissing);
  return text === undefined ? undefined : schema.parse(JSON.parse(text));
};

/** A code in a file that goes with its use: a gateway that starts again does not open it anew. */
export const keepCodeInFile = (file: string): LinkCode => ({
  read: async () => (await readLinkFile(file))?.code,
  use: () =>
    unlink(file).then(
      () => true,
      (error: NodeJS.ErrnoException) => isMissing(error) ?? false,
    ),
});
