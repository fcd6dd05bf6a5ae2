import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadSecrets, planStack, prepareDatabase, startServers } from '@backlot/all-in-one';
import { createRabbitmqBus } from '@backlot/bus/rabbitmq';
import { reachable, startProgram } from '../program.ts';
import { benchAi } from './ai.ts';
import { headersSignedWith } from './callers.ts';
import { benchDrain, benchSend, queueMails } from './email.ts';

const port = 18_400;
const modelPort = 18_420;
const mailPort = 18_421;
const toFile = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const providerUrl = `http://127.0.0.1:${modelPort}/v1`;

const settings = {
  BACKLOT_LOG_LEVEL: 'error',
  BACKLOT_AI_PROVIDER: 'openai',
  BACKLOT_AI_ENDPOINTS: JSON.stringify([{ baseUrl: providerUrl, model: 'm' }]),
  BACKLOT_MAILER: 'smtp',
  BACKLOT_MAIL_DOMAIN: 'example.org',
  BACKLOT_SMTP_URL: `smtp://127.0.0.1:${mailPort}`,
};

/** Events leave the outbox only where somebody has a queue for them. */
const takeUsage = async (url: string, running: (() => Promise<unknown>)[]) => {
  const ignore = () => {};
  const bus = await createRabbitmqBus({ url, prefetch: 64, onDead: ignore, onError: ignore });
  running.push(() => bus.close());
  const topics = ['usage.recorded' as const];
  await bus.subscribe({ queue: 'bench.usage', topics, handler: async () => {} });
};

const benchServices = async (folder: string, running: (() => Promise<unknown>)[]) => {
  const none = { databaseUrl: undefined, redisUrl: undefined, amqpUrl: undefined };
  const servers = await startServers(none, folder, running);
  const databaseUrls = await prepareDatabase(servers.databaseUrl, console.warn);
  await takeUsage(servers.amqpUrl, running);
  const secrets = await loadSecrets(folder);
  const plan = planStack(port, { ...servers, databaseUrls }, secrets, {}, join(folder, 'files'));
  for (const [name, at] of [
    ['./model-server.ts', modelPort],
    ['./mail-server.ts', mailPort],
  ] as const) {
    const stub = startProgram(toFile(name), [String(at)], {});
    running.push(() => stub.stop());
  }
  const start = async (name: string, more: Record<string, string> = {}) => {
    const planned = plan.services.find((service) => service.name === name);
    if (!planned) throw new Error(`There is no service ${name}.`);
    const { entry, env } = planned;
    const program = startProgram(entry, [], { ...env, ...settings, ...more });
    running.push(() => program.stop());
    const origin = `http://127.0.0.1:${env.PORT}`;
    await reachable(`${origin}/readyz`, 200);
    return { service: program, origin };
  };
  const headers = headersSignedWith(secrets.identitySecret);

  const ai = await start('ai');
  await benchAi({ ...ai, providerUrl, headers });
  await ai.service.stop();

  const records = await start('records');
  const email = await start('email', { BACKLOT_MAX_WAITING_MAILS: '1000000' });
  await benchSend({ recordsOrigin: records.origin, emailOrigin: email.origin, headers });
  await email.service.stop();
  await queueMails(servers.databaseUrl);
  const { service } = await start('email', { BACKLOT_MAIL_RATE_PER_SECOND: '10000' });
  await benchDrain(servers.databaseUrl, service);
};

/** What ai and email add to providers that answer at once; each service in a process of its own. */
export const benchProviders = async (): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'backlot-bench-'));
  const running: (() => Promise<unknown>)[] = [];
  try {
    await benchServices(folder, running);
  } finally {
    for (const stop of running.reverse()) await stop();
    await rm(folder, { recursive: true, force: true });
  }
};
