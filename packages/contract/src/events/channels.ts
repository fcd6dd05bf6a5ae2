import { z } from 'zod';

const channelPresence = z.object({
  id: z.string(),
  channel: z.string(),
  userId: z.string().nullable(),
  data: z.record(z.string(), z.unknown()),
  since: z.string(),
});
const inProject = { projectNumber: z.number().int() };

const presenceTold = z.discriminatedUnion('kind', [
  /** The process lives, and has so many changes of these projects behind it. */
  z.object({
    kind: z.literal('alive'),
    versions: z.array(z.tuple([z.number().int(), z.number().int()])).max(1000),
  }),
  z.object({
    ...inProject,
    kind: z.literal('changed'),
    before: z.number().int(),
    version: z.number().int(),
    here: z.array(channelPresence),
    gone: z.array(z.object({ id: z.string(), channel: z.string() })),
  }),
  z.object({
    ...inProject,
    kind: z.literal('all'),
    version: z.number().int(),
    here: z.array(channelPresence),
  }),
  /** Asks a process for all of a project. */
  z.object({ ...inProject, kind: z.literal('ask'), of: z.string() }),
  /** For the process that has the stream. */
  z.object({
    ...inProject,
    kind: z.literal('set'),
    stream: z.string(),
    caller: z.string(),
    channel: z.string(),
    data: z.record(z.string(), z.unknown()).nullable(),
  }),
]);
export type PresenceTold = z.infer<typeof presenceTold>;
export type ChannelPresence = z.infer<typeof channelPresence>;

export const channelEvents = {
  /** What callers have said in channels, for the streams of all processes of records. May be lost. */
  'channel.said': z.object({
    messages: z
      .array(z.object({ projectNumber: z.number().int(), channel: z.string(), text: z.string() }))
      .max(200),
  }),
  /** What a process of records tells others of who is there. May be lost: each says again which version it is at. */
  'presence.told': z.object({ process: z.string(), told: presenceTold }),
} as const;
