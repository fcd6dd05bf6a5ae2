import { exchange } from './rabbitmq-topology.ts';

/** A process that reaches the broker as itself; its queues begin with its name. */
export interface RabbitmqUser {
  name: string;
  password: string;
  /** Topics that it publishes. */
  sends: readonly string[];
  /** Topics that it binds its queues to. */
  hears: readonly string[];
}

const union = (patterns: readonly string[]) => `^(${patterns.join('|')})$`;
/** Without a backslash, which JSON, YAML and compose would each want doubled. */
const literally = (text: string) => text.replaceAll('.', '[.]');

/**
 * Definitions for RabbitMQ (`load_definitions`, or POST /api/definitions): these users and what each may
 * do, and nobody else. Everybody declares the exchange and the shared retry queues. Publishing to the
 * default exchange is needed to park an event, and lets a user put messages into any queue.
 */
export const rabbitmqDefinitions = (users: readonly RabbitmqUser[], vhost = '/') => {
  const permissions = users.map(({ name }) => {
    const own = [
      literally(exchange),
      'backlot[.]retry[.][0-9]+ms',
      `backlot[.]${name}[.].+`,
      'amq[.]gen-.+',
    ];
    const [configure, read, write] = [union(own), union(own), union([...own, 'amq[.]default'])];
    return { user: name, vhost, configure, write, read };
  });
  return {
    users: users.map(({ name, password }) => ({ name, password, tags: [] })),
    vhosts: [{ name: vhost }],
    permissions,
    // Without it there could be no rights on its topics.
    exchanges: [
      {
        ...{ name: exchange, vhost, type: 'topic', durable: true },
        ...{ auto_delete: false, internal: false, arguments: {} },
      },
    ],
    topic_permissions: users.map(({ name, sends, hears }) => ({
      user: name,
      vhost,
      exchange,
      write: union(sends.map(literally)),
      read: union(hears.map(literally)),
    })),
  };
};
