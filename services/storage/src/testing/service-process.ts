import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Identity, identityHeader } from '@backlot/identity';
import {
  anonymous,
  createServiceDatabase,
  createTestBroker,
  findTestRoute,
  type ServiceDatabase,
  signed,
  type TestBroker,
  testIdentityKeysSetting,
} from '@backlot/testing';
import { storageService } from '../service.ts';

export interface LaunchedService {
  child: ChildProcess;
  url: string;
}

export interface ServiceLauncher {
  database: ServiceDatabase;
  /** A process of the service; at another one's port if it is given. */
  launch(port?: string): Promise<LaunchedService>;
  /** As the gateway would sign it for this call. */
  identity(method: string, path: string, changes?: Partial<Identity>): Record<string, string>;
  /** Kills what still runs. */
  close(): Promise<void>;
}

export const kill = async ({ child }: LaunchedService): Promise<void> => {
  child.kill('SIGKILL');
  await once(child, 'exit');
};

/** Processes of the service over a database and a broker of their own. @param store its settings */
export const createLauncher = async (store: Record<string, string>): Promise<ServiceLauncher> => {
  const parts: [ServiceDatabase, TestBroker] = await Promise.all([
    createServiceDatabase(storageService),
    createTestBroker(),
  ]);
  const [database, broker] = parts;
  const children: ChildProcess[] = [];
  return {
    database,
    async launch(port = '0') {
      const entry = fileURLToPath(new URL('../main.ts', import.meta.url));
      const child = spawn(process.execPath, [entry], {
        env: {
          PORT: port,
          NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
          DATABASE_URL: database.url,
          AMQP_URL: broker.url,
          BACKLOT_IDENTITY_KEYS: testIdentityKeysSetting('storage'),
          // Nobody is there: they are asked when a PDF is read, or by a signed address.
          BACKLOT_PROJECTS_ORIGIN: 'http://127.0.0.1:1',
          BACKLOT_AUTH_ORIGIN: 'http://127.0.0.1:1',
          BACKLOT_RECORDS_ORIGIN: 'http://127.0.0.1:1',
          BACKLOT_SECRETS_KEYS: Buffer.alloc(32, 3).toString('base64'),
          ...store,
        },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      children.push(child);
      const url = await new Promise<string>((resolve, reject) => {
        child.once('exit', () => reject(new Error('it ended')));
        createInterface(child.stdout).on('line', (line) => {
          const { port, msg } = JSON.parse(line) as { port?: number; msg: string };
          if (msg === 'listening') resolve(`http://127.0.0.1:${port}`);
        });
      });
      return { child, url };
    },
    identity: (method, path, changes) => ({
      [identityHeader]: signed(anonymous(changes), findTestRoute(method, path)),
    }),
    async close() {
      for (const child of children) child.kill('SIGKILL');
      await Promise.all(parts.map((part) => part.drop()));
    },
  };
};
