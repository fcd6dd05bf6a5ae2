import { benchEveryday } from './everyday.ts';
import { benchLarge } from './large.ts';

/** `pnpm bench records`, or `records large [records in a collection] [projects]`. */
export const benchRecords = async ([
  profile,
  rows = '1000000',
  projects = '10000',
]: readonly string[]): Promise<void> => {
  if (profile === 'large') await benchLarge(Number(rows), Number(projects));
  else await benchEveryday();
};
