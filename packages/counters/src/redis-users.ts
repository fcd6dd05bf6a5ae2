export interface RedisUser {
  name: string;
  password: string;
  /** Whether it counts calls too; everybody here holds credits. */
  countsCalls: boolean;
}

/** What createRedisCounters sends, and what its scripts run. */
const commands = [
  'eval',
  'evalsha',
  'get',
  'set',
  'time',
  'pexpire',
  'hexists',
  'hget',
  'hmget',
  'hset',
  'hdel',
  'hincrby',
  'zadd',
  'zrem',
  'zrange',
  'zrangebyscore',
  // Of the connection.
  'ping',
  'info',
  'hello',
  'select',
  'client|setname',
];

/** The rules of a Redis ACL after the user's name: no other key, command or channel. */
const rules = ({ password, countsCalls }: RedisUser) =>
  [
    `on >${password} resetchannels`,
    ...(countsCalls ? ['~rl:*'] : []),
    '~cr:*',
    '-@all',
    ...commands.map((command) => `+${command}`),
  ].join(' ');

/**
 * Lines of a Redis ACL file: these users, one named `health` that can but ping, `operator` for a person,
 * and nobody else.
 */
export const redisUsers = (users: readonly RedisUser[], operatorPassword: string): string[] => [
  // Nobody signs in as it, but as it Redis reads its own log again: what it may not do, a restart loses.
  'user default off ~* &* +@all',
  'user health on nopass resetchannels -@all +ping',
  `user operator on >${operatorPassword} ~* &* +@all`,
  ...users.map((user) => `user ${user.name} ${rules(user)}`),
];
