import { ApiError, type ChannelRule } from '@backlot/contract';
import type { Identity } from '@backlot/identity';

export type ChannelAction = keyof ChannelRule;

type Rules = Readonly<Record<string, ChannelRule>>;

/** Members of a group have a channel of their own. */
const builtIn: Rules = { 'group:*': { listen: ['group'], broadcast: ['group'] } };

const isPattern = (pattern: string) => pattern.endsWith('*');
const isFor = (pattern: string, channel: string) =>
  isPattern(pattern) ? channel.startsWith(pattern.slice(0, -1)) : channel === pattern;

/** The channel's own rule before the one with the longest beginning. */
const findRule = (rules: Rules, channel: string): [string, ChannelRule] | undefined =>
  Object.entries(rules)
    .filter(([pattern]) => isFor(pattern, channel))
    .sort(([a], [b]) => Number(isPattern(a)) - Number(isPattern(b)) || b.length - a.length)[0];

const wordsFor = ({ listen, broadcast = [], presence = broadcast }: ChannelRule) => ({
  listen,
  broadcast,
  presence,
});

const isAllowed = (
  words: readonly string[],
  { caller, role = 'user', groups = [], emailVerified }: Identity,
  groupId: string | undefined,
): boolean => {
  if (words.includes('anyone')) return true;
  if (caller !== 'user') return false;
  const inGroup = groups.find(({ id }) => id === groupId?.toLowerCase());
  return words.some(
    (word) =>
      word === 'users' ||
      word === `role:${role}` ||
      (word === 'verified' && emailVerified === true) ||
      (inGroup !== undefined && (word === 'group' || word === `group:${inGroup.role}`)),
  );
};

const verbs = { listen: 'listen to', broadcast: 'say something in', presence: 'be shown in' };

/**
 * The project's owner, its keys and the operator may all.
 * @throws ApiError unauthenticated, forbidden
 */
export const checkChannel = (identity: Identity, channel: string, action: ChannelAction): void => {
  const { caller, project } = identity;
  if (caller === 'owner' || caller === 'key' || caller === 'operator') return;
  const set = (project.settings.channels ?? {}) as Rules;
  const found = findRule(set, channel) ?? findRule(builtIn, channel);
  const words = found ? wordsFor(found[1])[action] : [];
  const groupId = found && isPattern(found[0]) ? channel.slice(found[0].length - 1) : undefined;
  if (isAllowed(words, identity, groupId)) return;
  if (caller === 'anonymous' && words.length > 0)
    throw new ApiError('unauthenticated', `Sign in to ${verbs[action]} "${channel}".`);
  const example = `{"settings": {"channels": {"${channel.replace(/:.*/, ':*')}": {"listen": ["users"], "broadcast": ["users"]}}}}`;
  throw new ApiError('forbidden', `You may not ${verbs[action]} "${channel}".`, {
    hint: found
      ? `The setting "channels" of the project says who may, at "${found[0]}".`
      : `No channel is open before the project’s owner says so: PATCH /api/platform/projects/${project.id} ${example}`,
  });
};
