import { randomBytes } from 'node:crypto';
import { startRabbitmq } from '@backlot/local-servers';
import { startOncePerRun } from './lazy-server.ts';

export interface TestBroker {
  /** AMQP access to an empty virtual host of this test's own. */
  url: string;
  vhost: string;
  /** Takes definitions over, such as users. */
  define(definitions: object): Promise<void>;
  /** Removes the virtual host with all that is in it, and ends the connections to it. */
  drop(): Promise<void>;
}

interface Server {
  url: string;
  managementUrl: string;
}

/**
 * On the server of TEST_AMQP_URL, whose management plugin answers at TEST_AMQP_MANAGEMENT_URL
 * (without it: port 15672 of the same host), or on one started for the run at the first call.
 */
export async function createTestBroker(): Promise<TestBroker> {
  const server = givenServer() ?? (await startOncePerRun('rabbitmq', start));
  const name = `test-${randomBytes(8).toString('hex')}`;
  await manage(server, 'PUT', `vhosts/${name}`);
  const { username } = new URL(server.url);
  await manage(server, 'PUT', `permissions/${name}/${username}`, {
    configure: '.*',
    write: '.*',
    read: '.*',
  });
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    vhost: name,
    define: (definitions) => manage(server, 'POST', 'definitions', definitions),
    drop: () => manage(server, 'DELETE', `vhosts/${name}`),
  };
}

function givenServer(): Server | undefined {
  const url = process.env.TEST_AMQP_URL;
  if (url === undefined) return undefined;
  const management = process.env.TEST_AMQP_MANAGEMENT_URL;
  return { url, managementUrl: management ?? `http://${new URL(url).hostname}:15672` };
}

async function start(dataDir: string): Promise<Server> {
  const { url, managementUrl } = await startRabbitmq({ dataDir, throwaway: true });
  return { url, managementUrl };
}

async function manage(server: Server, method: string, path: string, body?: unknown) {
  const { username, password } = new URL(server.url);
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  const answer = await fetch(`${server.managementUrl}/api/${path}`, {
    method,
    headers: {
      authorization: `Basic ${Buffer.from(credentials).toString('base64')}`,
      'content-type': 'application/json',
    },
    body: body === undefined ? null : JSON.stringify(body),
  });
  if (answer.ok || (method === 'DELETE' && answer.status === 404)) return;
  throw new Error(`RabbitMQ answers ${answer.status} to ${method} ${path}: ${await answer.text()}`);
}
