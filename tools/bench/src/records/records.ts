import { benchEveryday } from './everyday.ts';
import { benchLarge } from './large.ts';

/** `pnpm bench records`, `records found` (its searches and sums alone), or `records large [records] [projects]`. */
export const benchRecords = async ([
  profile,
  rows = '1000000',
  projects = '10000',
]: readonly string[]): Promise<void> => {
  if (profile === 'large') await benchLarge(Number(rows), Number(projects));
  else await benchEveryday(profile === 'found');
};
