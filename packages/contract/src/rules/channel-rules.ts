import { z } from 'zod';
import { recordUpTo } from '../schemas.ts';

const nameRule =
  'must be 1-100 of A-Z, a-z, 0-9, _, -, . and :, starting with a letter or a digit, such as room:1';

/** docs/owners.md, "Channels". */
export const channelName = z
  .string()
  .max(100, { error: nameRule, abort: true })
  .regex(/^[A-Za-z0-9][A-Za-z0-9_.:-]*$/, nameRule);

/** A channel, or all that begin with what stands before the star. */
const channelPattern = z
  .string()
  .max(100, { abort: true })
  .regex(
    /^(\*|[A-Za-z0-9][A-Za-z0-9_.:-]*\*?)$/,
    'must be a channel such as "lobby", or the beginning of some and a star, such as "room:*"',
  );

const words = z
  .array(
    z
      .string()
      .max(40, { abort: true })
      .regex(
        /^(anyone|users|verified|group|(role|group):[a-z0-9_-]{1,32})$/,
        'must be anyone, users, verified, role:<name>, group (members of the group whose id stands for the star) or group:<role>',
      ),
  )
  .max(10);

const channelRule = z.strictObject({
  listen: words.describe('Who hears what is said, and sees who is there'),
  broadcast: words.optional().describe('Who says something; nobody unless stated'),
  presence: words.optional().describe('Who says that they are there; as `broadcast` unless stated'),
});

export type ChannelRule = z.infer<typeof channelRule>;

const maxPatterns = 20;
/** As JSON: they travel with each call. */
const maxRulesBytes = 2000;

/** Who hears and says what in which channels; what no pattern is for is closed, but to members of `group:<id>`. */
export const channelRules = recordUpTo(maxPatterns, z.record(channelPattern, channelRule)).refine(
  (rules) => Buffer.byteLength(JSON.stringify(rules)) <= maxRulesBytes,
  `may have at most ${maxRulesBytes} bytes as JSON`,
);
