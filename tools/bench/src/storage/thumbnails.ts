import pg from 'pg';
import { cpuSeconds } from '../load/load.ts';
import type { Account } from './account.ts';
import { writePicture } from './picture.ts';

export interface ThumbnailSubject {
  account: Account;
  /** Of the storage service. */
  pid: number;
  databaseUrl: string;
  folder: string;
}

const parallel = 100;
const pixels = { width: 4000, height: 3000 };
const bound = 1.5;

const countImages = async (databaseUrl: string, fileId: string) => {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rowCount } = await client.query('SELECT FROM storage.images WHERE file_id = $1', [
    fileId,
  ]);
  await client.end();
  return rowCount;
};

/**
 * How often an image is computed that many ask for at once: the CPU time that it takes, less that of as
 * many calls for one that is there, in times of one that is made for one call.
 */
export const benchThumbnails = async (subject: ThumbnailSubject): Promise<void> => {
  const { account, pid, databaseUrl, folder } = subject;
  const { id, url } = await account.upload(writePicture(folder, pixels.width, pixels.height));
  const measureCpu = async (query: string, times: number) => {
    const before = await cpuSeconds(pid);
    const answers = await Promise.all(
      Array.from({ length: times }, async () => {
        const response = await fetch(`${url}?${query}`);
        if (response.status !== 200) throw new Error(`${query}: ${response.status}`);
        return Buffer.from(await response.arrayBuffer());
      }),
    );
    if (!answers.every((answer) => answers[0]?.equals(answer))) throw new Error('Answers differ.');
    return (await cpuSeconds(pid)) - before;
  };
  // AVIF takes long enough for a clock of hundredths.
  const alone = await measureCpu('width=1500&format=avif', 1);
  const together = await measureCpu('width=1501&format=avif', parallel);
  const served = await measureCpu('width=1501&format=avif', parallel);
  const rows = await countImages(databaseUrl, id);
  if (rows !== 2) throw new Error(`There are ${rows} images.`);
  console.log(
    `${parallel} calls at once for a new thumbnail: ${together.toFixed(2)} s CPU, ${served.toFixed(2)} s when it is there, ${alone.toFixed(2)} s for one made alone: computed ${((together - served) / alone).toFixed(1)} times (bound: ${bound})`,
  );
  await account.remove(id);
};
