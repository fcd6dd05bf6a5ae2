import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { createInProcessBus } from '@backlot/bus';
import { createMemoryCounters } from '@backlot/counters';
import { type Listening, serve } from '@backlot/http';
import { identitySecret } from '@backlot/identity';
import { startPostgres } from '@backlot/local-servers';
import { createLogger } from '@backlot/telemetry';
import type { PlatformConfig } from './config.ts';
import { examplesApp, examplesPath } from './examples.ts';
import { assembleGateway } from './gateway.ts';
import { loadSecrets } from './secrets.ts';
import { type Seeded, seed } from './seed.ts';
import { startServices } from './services.ts';

export interface Platform extends Seeded {
  url: string;
  operatorToken: string;
  /** Lets calls under way finish, then stops every part in order. */
  stop(): Promise<void>;
}

export interface PlatformOptions {
  /** Validates every answer against the contract; on in tests. */
  checkResponses?: boolean;
}

const starting: RequestListener = (_req, res) => {
  res.writeHead(503, { 'Retry-After': '1', 'Content-Type': 'application/json; charset=utf-8' });
  res.end('{"error":"The platform is starting.","code":"unavailable","requestId":""}');
};

/** Starts everything on one port and makes the demo project on the first start. */
export const startPlatform = async (
  config: PlatformConfig,
  { checkResponses = false }: PlatformOptions = {},
): Promise<Platform> => {
  const running: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const each of running.splice(0).reverse()) await each();
  };
  let answer: RequestListener = starting;
  try {
    const secrets = await loadSecrets(config.dataDir);
    const log = createLogger({ service: 'backlot', level: config.logLevel });
    const databaseUrl = config.databaseUrl ?? (await startLocalDatabase(config.dataDir, running));
    const bus = createInProcessBus({
      onDead: (event, queue, err) => log.error({ event, queue, err }, 'gave an event up'),
    });
    running.push(() => bus.close());

    // It listens before the services are there, so that the port, and with it the public address, is known.
    const listening: Listening = await serve(
      (req: IncomingMessage, res: ServerResponse) => answer(req, res),
      config,
    );
    const url = config.publicUrl ?? `http://localhost:${listening.port}`;
    const shared = {
      identitySecret: identitySecret(secrets.identitySecret),
      now: Date.now,
      log,
      bus,
      counters: createMemoryCounters(Date.now),
      checkResponses,
    };
    const services = await startServices(
      {
        ...shared,
        settings: config.settings,
        databaseUrl,
        publicUrl: url,
        filesDir: join(config.dataDir, 'files'),
        masterKey: secrets.masterKey,
        secretsKey: secrets.secretsKey,
      },
      running,
    );
    const operatorToken = config.operatorToken ?? secrets.operatorToken;
    const gateway = await assembleGateway(
      { ...shared, config, services, operatorToken, publicUrl: url },
      running,
    );
    const seeded = await seed(services, secrets.ownerPassword);
    // The last to start is the first to stop: no call meets a service that is gone.
    running.push(() => listening.stop());
    const examples = examplesApp();
    const { mailbox } = services.email;
    answer = (req, res) => {
      if (req.url?.startsWith(examplesPath)) examples(req, res);
      else if (mailbox && req.url?.startsWith('/mailbox/')) mailbox(req, res);
      else gateway(req, res);
    };
    return { ...seeded, url, operatorToken, stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

const startLocalDatabase = async (dataDir: string, running: (() => Promise<unknown>)[]) => {
  const postgres = await startPostgres({ dataDir: join(dataDir, 'postgres') });
  running.push(() => postgres.stop());
  return postgres.url;
};
