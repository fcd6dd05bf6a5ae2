import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Identity, identityHeader, identitySecret, signIdentity } from '@backlot/identity';
import {
  anonymous,
  createServiceDatabase,
  createTestBroker,
  type ServiceDatabase,
  type TestBroker,
} from '@backlot/testing';
import { storageService } from '../service.ts';

const secret = 'x'.repeat(32);

export interface LaunchedService {
  child: ChildProcess;
  url: string;
}

export interface ServiceLauncher {
  database: ServiceDatabase;
  /** A process of the service; at another one's port if it is given. */
  launch(port?: string): Promise<LaunchedService>;
  /** As the gateway would sign it. */
  identity(changes?: Partial<Identity>): Record<string, string>;
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
          DATABASE_URL: database.url,
          AMQP_URL: broker.url,
          BACKLOT_IDENTITY_SECRET: secret,
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
    identity: (changes) => ({
      [identityHeader]: signIdentity(anonymous(changes), identitySecret(secret), Date.now()),
    }),
    async close() {
      for (const child of children) child.kill('SIGKILL');
      await Promise.all(parts.map((part) => part.drop()));
    },
  };
};
