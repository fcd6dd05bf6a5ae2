import { benchEveryday } from './everyday.ts';
import { benchLarge } from './large.ts';
import { benchMove } from './move/move.ts';

/** `pnpm bench records`, `records large [records in a collection] [projects]`, or `records move [records]`. */
export const benchRecords = async ([
  profile,
  rows = '1000000',
  projects = '10000',
]: readonly string[]): Promise<void> => {
  if (profile === 'large') await benchLarge(Number(rows), Number(projects));
  else if (profile === 'move') await benchMove(Number(rows));
  else await benchEveryday();
};
