import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PlatformConfig } from '../config.ts';
import { prepareDatabase } from '../database/prepare-database.ts';
import type { Seeded } from '../database/seed.ts';
import { createLinkCode, linkPath } from '../owner-link.ts';
import { createMailboxKey, loadSecrets } from '../secrets.ts';
import { writeLinkFile } from './link-file.ts';
import { createLogLines } from './log-lines.ts';
import { type Program, planStack } from './programs.ts';
import { seedDatabase } from './seed-database.ts';
import { startServers } from './servers.ts';
import { supervise } from './supervisor.ts';

export interface Stack extends Seeded {
  /** Of the gateways. */
  urls: string[];
  operatorToken: string;
  /** Opens the demo project's mailbox, once. */
  mailboxUrl: string;
  /** Signs the demo's owner in to the console, once, in a browser on this machine. */
  ownerUrl: string;
  stop(cut?: AbortSignal): Promise<void>;
}

const readyMs = 60_000;

const untilReady = async (url: string) => {
  const deadline = performance.now() + readyMs;
  for (;;) {
    const ready = await fetch(`${url}/readyz`).then(
      (answer) => answer.ok,
      () => false,
    );
    if (ready) return;
    if (performance.now() > deadline) throw new Error(`${url} was not ready within ${readyMs} ms.`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
};

const linkEntry = fileURLToPath(new URL('./gateway-main.ts', import.meta.url));

/** The first gateway, whose address is printed, answers the link. */
const withOwnerLink = ([first, ...others]: Program[], file: string): Program[] => [
  ...(first ? [{ ...first, entry: linkEntry, env: { ...first.env, OWNER_LINK_FILE: file } }] : []),
  ...others,
];

/** Every service as a process of its own, two gateways in front; stopped in the reverse order. */
export const startStack = async (
  config: PlatformConfig,
  write: (text: string) => void,
  colorize: boolean,
): Promise<Stack> => {
  const running: ((cut?: AbortSignal) => Promise<unknown>)[] = [];
  const stop = async (cut?: AbortSignal) => {
    for (const stopPart of running.splice(0).reverse()) await stopPart(cut);
  };
  try {
    const folder = join(config.dataDir, 'stack');
    const secrets = await loadSecrets(folder);
    const { databaseUrl } = config;
    const mailboxKey = config.settings.BACKLOT_MAILBOX_KEY ?? createMailboxKey();
    const settings: PlatformConfig['settings'] = {
      ...config.settings,
      BACKLOT_MAILBOX_KEY: mailboxKey,
    };
    const given = { databaseUrl, redisUrl: settings.REDIS_URL, amqpUrl: settings.AMQP_URL };
    const servers = await startServers(given, folder, running, (server, text) =>
      write(`${server} ${text}\n`),
    );
    const databaseUrls = await prepareDatabase(servers.databaseUrl, (text) => write(`${text}\n`));
    const seeded = await seedDatabase(databaseUrls, settings, secrets);

    const reached = { ...servers, databaseUrls };
    const plan = planStack(config.port, reached, secrets, settings, join(config.dataDir, 'files'));
    const linkFile = join(folder, 'owner-link.json');
    const code = createLinkCode();
    await writeLinkFile(linkFile, { code, owner: seeded.owner });
    running.push(() => rm(linkFile, { force: true }));
    const gateways = withOwnerLink(plan.gateways, linkFile);
    const names = [...plan.services, ...gateways].map(({ name }) => name);
    const options = { onLine: createLogLines(names, write, colorize) };
    for (const group of [plan.services, gateways]) {
      const supervised = group.map((program) => supervise(program, options));
      running.push((cut) => Promise.all(supervised.map((process) => process.stop(cut))));
    }
    await Promise.all(plan.urls.map(untilReady));
    const operatorToken = settings.BACKLOT_OPERATOR_TOKEN ?? secrets.operatorToken;
    const mailboxUrl = `${plan.urls[0]}/mailbox/${seeded.projectId}?key=${mailboxKey}`;
    const ownerUrl = `${plan.urls[0]}${linkPath(code)}`;
    return { ...seeded, urls: plan.urls, operatorToken, mailboxUrl, ownerUrl, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};
