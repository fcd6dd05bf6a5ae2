import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/** Who is signed in, and where. */
export interface Session {
  host: string;
  token: string;
}

const file = () =>
  join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'backlot', 'session.json');

export const readSession = async (): Promise<Session | undefined> => {
  try {
    return JSON.parse(await readFile(file(), 'utf8')) as Session;
  } catch {
    return undefined;
  }
};

/** Readable for its owner alone. Returns where it is kept. */
export const keepSession = async (session: Session): Promise<string> => {
  await mkdir(dirname(file()), { recursive: true, mode: 0o700 });
  await writeFile(file(), JSON.stringify(session), { mode: 0o600 });
  return file();
};
