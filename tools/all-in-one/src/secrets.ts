import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

const schema = z.object({
  identitySecret: z.string(),
  masterKey: z.string(),
  secretsKey: z.string(),
  operatorToken: z.string(),
  ownerPassword: z.string(),
});

/** What a local platform keeps to itself; made once for each data folder. */
export type Secrets = z.infer<typeof schema>;

const create = (): Secrets => ({
  identitySecret: randomBytes(32).toString('base64url'),
  masterKey: randomBytes(32).toString('base64'),
  secretsKey: randomBytes(32).toString('base64'),
  operatorToken: `op_${randomBytes(24).toString('base64url')}`,
  ownerPassword: randomBytes(9).toString('base64url'),
});

/** Opens the dev mailbox once, so every start makes a new one. */
export const createMailboxKey = (): string => randomBytes(24).toString('base64url');

/** Mode 0600. Written aside, synced and renamed: a crash leaves the whole file or none. */
export const writeWhole = async (file: string, text: string): Promise<void> => {
  const unfinished = `${file}.new`;
  const handle = await open(unfinished, 'w', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(unfinished, file);
};

/** Reads `secrets.json` (mode 0600) of the data folder, or writes it on first start. */
export const loadSecrets = async (dataDir: string): Promise<Secrets> => {
  const file = join(dataDir, 'secrets.json');
  const found = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (found !== undefined) return schema.parse(JSON.parse(found));
  const secrets = create();
  await mkdir(dataDir, { recursive: true });
  await writeWhole(file, JSON.stringify(secrets, null, 2));
  return secrets;
};
