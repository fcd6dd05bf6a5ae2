import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { createInProcessBus } from '@backlot/bus';
import { createMemoryCounters } from '@backlot/counters';
import type { Gateway, GatewayDeps } from '@backlot/gateway';
import { type Listening, serve } from '@backlot/http';
import { startPostgres } from '@backlot/local-servers';
import { createLogger } from '@backlot/telemetry';
import type { PlatformConfig } from './config.ts';
import { prepareDatabase } from './database/prepare-database.ts';
import { addSampleData, type SampleDataOptions } from './database/sample-data.ts';
import { type Seeded, seed } from './database/seed.ts';
import { assembleGateway } from './gateway.ts';
import {
  createLinkCode,
  createOwnerLink,
  keepCodeInMemory,
  linkPath,
  type OwnerLink,
  signInAsOwner,
} from './owner-link.ts';
import { createMailboxKey, loadSecrets, type Secrets } from './secrets.ts';
import { startServices } from './services.ts';

export interface Platform extends Seeded {
  url: string;
  operatorToken: string;
  /** Signs in to the examples on the demo project; undefined where its mails would leave the house. */
  demoUser: { email: string; password: string } | undefined;
  /** Opens the demo project's mailbox, once. */
  mailboxUrl: string;
  /** Signs the demo's owner in to the console, once, in a browser on this machine; undefined unless asked for. */
  ownerUrl: string | undefined;
  /** Lets calls under way finish for up to 10 s, or until `cut` is aborted; then stops every part in order. */
  stop(cut?: AbortSignal): Promise<void>;
}

export interface PlatformOptions {
  /** Validates every answer against the contract; on in tests. */
  checkResponses?: boolean;
  /** Fills the demo project, once, with what the examples show. */
  sampleData?: boolean;
  /** Has an address that signs the demo's owner in. */
  ownerLink?: boolean;
  /** By which refusals of one address wait; tests wait for none. */
  refusalClock?: NonNullable<GatewayDeps['refusalClock']>;
}

const starting: RequestListener = (_req, res) => {
  res.writeHead(503, { 'Retry-After': '1', 'Content-Type': 'application/json; charset=utf-8' });
  res.end('{"error":"The platform is starting.","code":"unavailable","requestId":""}');
};

/** What is given, and what a platform in one process sets where nothing is. */
const serviceSettings = ({ settings, dataDir }: PlatformConfig, secrets: Secrets, url: string) => ({
  BACKLOT_SECRETS_KEYS: secrets.secretsKey,
  // A developer's own listeners.
  BACKLOT_WEBHOOKS_TO_LOOPBACK: 'on',
  // One hash at a time leaves the other threads of the pool to everything else in this process.
  BACKLOT_HASH_CONCURRENCY: '1',
  ...(settings.BACKLOT_S3_BUCKET ? {} : { BACKLOT_STORAGE_DIR: join(dataDir, 'files') }),
  ...settings,
  BACKLOT_PUBLIC_URL: url,
  BACKLOT_AUTH_MASTER_KEY: secrets.masterKey,
});

/** Starts everything on one port and makes the demo project on the first start. */
export const startPlatform = async (
  config: PlatformConfig,
  {
    checkResponses = false,
    sampleData = false,
    ownerLink = false,
    refusalClock,
  }: PlatformOptions = {},
): Promise<Platform> => {
  const running: ((cut?: AbortSignal) => Promise<unknown>)[] = [];
  const stop = async (cut?: AbortSignal) => {
    for (const stopPart of running.splice(0).reverse()) await stopPart(cut);
  };
  let gateway: Gateway | undefined;
  let link: OwnerLink | undefined;
  try {
    const secrets = await loadSecrets(config.dataDir);
    const log = createLogger({ service: 'backlot', level: config.logLevel });
    const databaseUrls = await prepareDatabase(
      config.databaseUrl ?? (await startLocalDatabase(config.dataDir, running)),
      (text) => log.warn(text),
    );
    const bus = createInProcessBus({
      onDead: ({ id, topic }, queue, err) =>
        log.error({ eventId: id, topic, queue, err }, 'gave an event up'),
      onFailed: ({ id, topic }, queue, err) =>
        log.warn({ eventId: id, topic, queue, err }, 'an event failed; it is tried again'),
    });
    running.push(() => bus.close());

    // It listens before the services are there, so that the port, and with it the public address, is known.
    const listening: Listening = await serve(
      (req: IncomingMessage, res: ServerResponse) => {
        if (!link?.answer(req, res)) (gateway?.app ?? starting)(req, res);
      },
      { ...config, acceptConnection: (socket) => gateway?.acceptConnection(socket) ?? true },
    );
    const url = config.publicUrl ?? `http://localhost:${listening.port}`;
    const shared = {
      identityRoot: secrets.identitySecret,
      now: Date.now,
      log,
      bus,
      counters: createMemoryCounters(Date.now),
      checkResponses,
    };
    const mailboxKey = config.settings.BACKLOT_MAILBOX_KEY ?? createMailboxKey();
    const env = {
      ...serviceSettings(config, secrets, url),
      BACKLOT_MAILBOX_KEY: mailboxKey,
    };
    const services = await startServices({ ...shared, databaseUrls, env }, running);
    const operatorToken = config.operatorToken ?? secrets.operatorToken;
    const assembled = await assembleGateway(
      {
        ...shared,
        ...(refusalClock && { refusalClock }),
        config,
        services,
        operatorToken,
        publicUrl: url,
      },
      running,
    );
    const seeded = await seed(services, secrets.ownerPassword);
    const keepsMails = (config.settings.BACKLOT_MAILER ?? 'dev-mailbox') === 'dev-mailbox';
    const demoUser = keepsMails
      ? { email: 'ada@backlot.example', password: secrets.ownerPassword }
      : undefined;
    const samples = { projectId: seeded.projectId, operatorToken, demoUser };
    if (sampleData)
      await addSampleDataOnce(config.dataDir, { ...samples, gateway: assembled.app }).catch(
        (err: unknown) => log.warn({ err }, 'no sample data; the next start tries again'),
      );
    // The last to start is the first to stop: no call meets a service that is gone.
    running.push((cut) => {
      assembled.drain();
      return listening.stop(cut);
    });
    gateway = assembled;
    const mailboxUrl = `${url}/mailbox/${seeded.projectId}?key=${mailboxKey}`;
    const code = createLinkCode();
    if (ownerLink)
      link = createOwnerLink(keepCodeInMemory(code), () =>
        signInAsOwner(listening.port, seeded.owner),
      );
    const ownerUrl = link && `http://localhost:${listening.port}${linkPath(code)}`;
    return { ...seeded, url, operatorToken, demoUser, mailboxUrl, ownerUrl, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

/** What was deleted of it does not come back. */
const addSampleDataOnce = async (dataDir: string, options: SampleDataOptions) => {
  const done = join(dataDir, 'sample-data');
  if (existsSync(done)) return;
  await addSampleData(options);
  await writeFile(done, 'The demo project has had its sample data.\n');
};

const startLocalDatabase = async (dataDir: string, running: (() => Promise<unknown>)[]) => {
  const postgres = await startPostgres({ dataDir: join(dataDir, 'postgres') });
  running.push(() => postgres.stop());
  return postgres.url;
};
