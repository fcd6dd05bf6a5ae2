import { topicExchange } from './rabbitmq-topology.ts';

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
 * do, and nobody else. Each declares, reads and writes what has its own name, writes to the exchanges of
 * the topics that it sends and binds to those that it hears. Nobody may make or delete those, so they
 * stand here.
 */
export const rabbitmqDefinitions = (users: readonly RabbitmqUser[], vhost = '/') => {
  const topics = new Set(users.flatMap(({ sends, hears }) => [...sends, ...hears]));
  const exchanges = (names: readonly string[]) => names.map(topicExchange).map(literally);
  return {
    users: users.map(({ name, password }) => ({ name, password, tags: [] })),
    vhosts: [{ name: vhost }],
    permissions: users.map(({ name, sends, hears }) => {
      const own = [`backlot[.]${name}([.].+)?`, 'amq[.]gen-.+'];
      return {
        user: name,
        vhost,
        configure: union(own),
        write: union([...own, ...exchanges(sends)]),
        read: union([...own, ...exchanges(hears)]),
      };
    }),
    exchanges: [...topics].sort().map((topic) => ({
      name: topicExchange(topic),
      vhost,
      type: 'fanout',
      durable: true,
      auto_delete: false,
      internal: false,
      arguments: {},
    })),
  };
};
