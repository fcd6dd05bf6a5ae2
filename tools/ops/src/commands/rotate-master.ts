import { randomBytes } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { call } from '@backlot/cli/api';
import { masterKeySettings, type SealCounts } from '@backlot/contract';
import { masterKeysSetting } from '@backlot/sealing';
import type { Command } from 'commander';
import { operatorTarget } from '../operator-target.ts';
import { besideServers, say } from '../output.ts';

type KeySetting = (typeof masterKeySettings)[number];
type Rings = Record<KeySetting, string>;

interface Place {
  rings: Rings;
  /** Puts the new ones where the old ones stood, or shows them. */
  keep(rings: Rings): Promise<void>;
}

const step = {
  add: `Next: exchange every process (npx -y pnpm@12 rollout, or the Secret and kubectl rollout restart),
then pnpm ops reseal-secrets until each service says "old": 0, then pnpm ops rotate-master drop.
Keep the new key where the old one is kept: back-ups from now on need it.`,
  drop: `Next: exchange every process. Keep the old key for as long as there are back-ups from before.`,
};

/** @throws Error where one is not set, or holds what is no key */
const readRings = (read: (setting: KeySetting) => string | undefined): Rings =>
  Object.fromEntries(
    masterKeySettings.map((setting) => {
      const ring = read(setting) ?? '';
      if (masterKeysSetting.safeParse(ring).success) return [setting, ring];
      throw new Error(`${setting} is not set, or holds what is no key.`);
    }),
  ) as Rings;

const lineWith = (setting: string) => new RegExp(`^${setting}=(.*)$`, 'm');

const inEnvironment = (): Place => ({
  rings: readRings((setting) => process.env[setting]),
  async keep(rings) {
    for (const setting of masterKeySettings) process.stdout.write(`${setting}=${rings[setting]}\n`);
  },
});

/** Whole or not at all, and for its owner only. */
const inFile = async (file: string): Promise<Place> => {
  const text = await readFile(file, 'utf8');
  return {
    rings: readRings((setting) => lineWith(setting).exec(text)?.[1]?.trim()),
    async keep(rings) {
      const changed = masterKeySettings.reduce(
        (all, setting) => all.replace(lineWith(setting), () => `${setting}=${rings[setting]}`),
        text,
      );
      await writeFile(`${file}.new`, changed, { mode: 0o600 });
      await rename(`${file}.new`, file);
      say(`Changed ${masterKeySettings.join(' and ')} in ${file}.`);
    },
  };
};

const mapRings = (rings: Rings, change: (keys: string[]) => string[]): Rings =>
  Object.fromEntries(
    masterKeySettings.map((setting) => [setting, change(rings[setting].split(',')).join()]),
  ) as Rings;

interface SealedSecrets {
  services: (SealCounts & { service: string })[];
  missing: string[];
}

/** @throws Error while something opens under an older key alone, or nobody can say */
const refuseWhileOldIsNeeded = async () => {
  const path = '/api/platform/sealed-secrets';
  const { services, missing } = await call<SealedSecrets>(operatorTarget(), 'GET', path);
  const needing = services
    .filter(({ old }) => old > 0)
    .map(({ service, old }) => `${service} ${old}`);
  if (needing.length > 0)
    throw new Error(
      `Still under older keys: ${needing.join(', ')}. First: pnpm ops reseal-secrets`,
    );
  if (missing.length > 0) throw new Error(`Did not answer: ${missing.join(', ')}.`);
};

const changes = {
  add: async (rings: Rings) =>
    mapRings(rings, (keys) => [randomBytes(32).toString('base64'), ...keys]),
  async drop(rings: Rings) {
    if (masterKeySettings.every((setting) => !rings[setting].includes(',')))
      throw new Error('There is no older key.');
    await refuseWhileOldIsNeeded();
    return mapRings(rings, (keys) => keys.slice(0, 1));
  },
};

export const addRotateMaster = (program: Command): void => {
  const rotate = program
    .command('rotate-master')
    .helpGroup(besideServers)
    .description(
      'Put a new key in front of BACKLOT_SECRETS_KEYS and BACKLOT_AUTH_MASTER_KEY, and later take the old ones away',
    );
  for (const [name, about] of [
    ['add', 'A new key in front of each ring; the older ones still open what they sealed'],
    ['drop', 'The first key of each ring alone; refused while anything lies under an older one'],
  ] as const)
    rotate
      .command(name)
      .description(about)
      .option(
        '--file <path>',
        'where both stand, such as .env; without it they are read from the environment and printed',
      )
      .action(async ({ file }: { file?: string }) => {
        const { rings, keep } = file === undefined ? inEnvironment() : await inFile(file);
        const next = await changes[name](rings);
        // One key too many is named before anything is written.
        await keep(readRings((setting) => next[setting]));
        say(step[name]);
      });
};
