import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { until } from '@backlot/testing/until';
import type { SoakTarget, SoakVictim } from './target.ts';

const run = promisify(execFile);
const docker = async (...args: string[]): Promise<string> =>
  (await run('docker', args, { maxBuffer: 2 ** 30 })).stdout.trim();

const isSecret = (name: string) => /(PASSWORD|TOKEN|KEY|KEYS)$/.test(name);
/** Shorter pieces are names. */
const leastLength = 16;
const unitBytes: Record<string, number> = { B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };

const parseBytes = (text: string): number => {
  const [, number = '0', unit = 'B'] = /^([\d.]+)([KMG]?i?B)/.exec(text.trim()) ?? [];
  return Number(number) * (unitBytes[unit] ?? 1);
};

/** The variables of `.env`. */
const readSettings = async (): Promise<Record<string, string>> => {
  const lines = (await readFile('.env', 'utf8')).split('\n');
  const pairs = lines.flatMap((line) => /^([A-Z][A-Z0-9_]*)=(.+)$/.exec(line)?.slice(1) ?? []);
  return Object.fromEntries(
    Array.from({ length: pairs.length / 2 }, (_, n) => [pairs[2 * n], pairs[2 * n + 1]]),
  );
};

/** What `docker compose up` has started from the folder that this runs in. */
export const composeTarget = async (): Promise<SoakTarget> => {
  const since = new Date().toISOString();
  const settings = await readSettings();
  const rows = (await docker('compose', 'ps', '--format', '{{.Service}} {{.ID}}')).split('\n');
  const containers = rows.map((row) => row.split(' ') as [string, string]);
  const ids = containers.map(([, id]) => id);
  const victims = containers.map(
    ([name, id]): SoakVictim => ({
      name,
      kill: async () => void (await docker('kill', id)),
      start: async () => void (await docker('start', id)),
      // The kernel gives up on a container whose threads find no core in time.
      freeze: async () => void (await until(() => docker('pause', id).then(() => true))),
      thaw: async () => void (await docker('unpause', id)),
    }),
  );
  const port = settings.BACKLOT_PORT ?? '8080';
  const second = settings.BACKLOT_SECOND_PORT ?? '8180';
  return {
    gateways: [`http://localhost:${port}`, `http://localhost:${second}`],
    operatorToken: settings.BACKLOT_OPERATOR_TOKEN ?? '',
    victims,
    async memory() {
      const text = await docker('stats', '--no-stream', '--format', '{{.ID}} {{.MemUsage}}');
      const names = new Map(containers.map(([name, id]) => [id.slice(0, 12), name]));
      return Object.fromEntries(
        text.split('\n').flatMap((line) => {
          const [id = '', usage = ''] = line.split(' ');
          const name = names.get(id.slice(0, 12));
          return name === undefined ? [] : [[name, parseBytes(usage)]];
        }),
      );
    },
    async logs() {
      const texts: string[] = [];
      for (const id of ids) {
        const { stdout, stderr } = await run('docker', ['logs', '--since', since, id], {
          maxBuffer: 2 ** 30,
        });
        texts.push(stdout, stderr);
      }
      return texts.join('\n');
    },
    secrets: Object.entries(settings)
      .filter(([name]) => isSecret(name))
      .flatMap(([, value]) => value.split(/[\s,:;|]+/))
      .filter((piece) => piece.length >= leastLength),
  };
};
