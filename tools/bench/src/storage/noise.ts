import { randomFillSync } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { MIB } from '@backlot/contract';

/** A file of so many MiB; the file systems at hand can neither guess nor share its content. */
export const writeNoise = (folder: string, mib: number): string => {
  const path = join(folder, `${mib}-mib.bin`);
  const chunk = Buffer.alloc(MIB);
  const file = openSync(path, 'w');
  for (let written = 0; written < mib; written++) writeSync(file, randomFillSync(chunk));
  closeSync(file);
  return path;
};
