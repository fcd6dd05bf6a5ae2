import { benchEveryday } from './everyday.ts';

/** `pnpm bench records` */
export const benchRecords = async (): Promise<void> => {
  await benchEveryday();
};
