import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median } from '../load/load.ts';
import { startPlatform } from '../platform.ts';

const port = 18_410;
const rounds = 9;
const dist = fileURLToPath(new URL('../../../../console/dist', import.meta.url));
const away = `${dist}-away`;

/** From the start of `pnpm dev` until it is ready, on a folder that exists, in turn with and without a built console. */
export const benchStart = async (folder: string): Promise<void> => {
  const dataDir = join(folder, 'start');
  const start = async (isAway: boolean) => {
    if (isAway && existsSync(dist)) await rename(dist, away);
    try {
      const { program, readyMs } = await startPlatform(port, dataDir);
      if (!isAway) await fetch(`http://localhost:${port}/console/`);
      await program.stop();
      return readyMs;
    } finally {
      if (existsSync(away)) await rename(away, dist);
    }
  };
  await start(false);
  const built: number[] = [];
  const absent: number[] = [];
  for (let round = 0; round < rounds; round++) {
    built.push(await start(false));
    absent.push(await start(true));
  }
  const [present, without] = [median(built), median(absent)];
  console.log(
    `ready with a built console ${(present / 1000).toFixed(2)} s, without ${(without / 1000).toFixed(2)} s: ${(present / without).toFixed(2)} times (medians of ${rounds}, in turn)`,
  );
};
