import { chmod, chown, readdir } from 'node:fs/promises';

const nobody = 65_534;
const isRoot = () => process.getuid?.() === 0;

export interface Ids {
  uid: number;
  gid: number;
}

/** Whom a server that refuses to run as root runs as. */
export const ordinaryIds = (): Ids =>
  isRoot()
    ? { uid: nobody, gid: nobody }
    : { uid: process.getuid?.() ?? nobody, gid: process.getgid?.() ?? nobody };

/** The command that runs a program as that user, who owns the folder and what is in it from now on. */
export async function asOrdinaryUser(program: string, args: string[], folder: string) {
  if (!isRoot()) return { file: program, args };
  for (const name of await readdir(folder)) await chown(`${folder}/${name}`, nobody, nobody);
  await chown(folder, nobody, nobody);
  await chmod(folder, 0o700);
  // A group it must have beside its own, or it is none of exim's administrators.
  const as = [`--reuid=${nobody}`, `--regid=${nobody}`, `--groups=${nobody}`];
  return { file: 'setpriv', args: [...as, program, ...args] };
}
