import { ApiError, channelName, recordRoutes } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import type { Asked } from '../change-log/watched-collection.ts';
import type { PresenceByChannel } from '../channels/channels.ts';
import { parseMine } from '../query/selection.ts';
import { parseWhere } from '../where/parse.ts';

type Query = Readonly<Record<string, unknown>>;

/** What a stream is asked for. */
export interface AskedEvents {
  collections: Asked[];
  channels: string[];
  /** What the caller says of being there. */
  here: PresenceByChannel;
}

const plainNames = new Set(['collections', 'channels', 'lastEventId', 'ticket', '_']);
const ofOne = /^(where|mine|group|presence)\.(.+)$/;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const refuse = (message: string, hint?: string): never => {
  throw new ApiError('invalid_query', message, hint === undefined ? {} : { hint });
};

const example = 'GET /events?collections=todos,notes&where.todos={"done":false}&channels=room:1';

const kinds = {
  collections: { isName: recordRoutes.collectionName, thing: 'collection' },
  channels: { isName: channelName, thing: 'channel' },
};

const parseNames = (kind: keyof typeof kinds, text: unknown): string[] => {
  if (text === undefined || text === '') return [];
  if (typeof text !== 'string') return refuse(`"${kind}" may come once.`);
  const names = [...new Set(text.split(',').map((name) => name.trim()))];
  const { isName, thing } = kinds[kind];
  const wrong = names.find((name) => !isName.safeParse(name).success);
  if (wrong !== undefined)
    refuse(`"${kind}": ${JSON.stringify(wrong.slice(0, 70))} is no name of a ${thing}.`, example);
  return names;
};

/** @throws ApiError invalid_query */
const parsePresence = (channel: string, text: unknown): Record<string, unknown> => {
  const name = `"presence.${channel}"`;
  try {
    const data: unknown = JSON.parse(String(text));
    if (typeof data === 'object' && data !== null && !Array.isArray(data)) {
      const { maxPresenceBytes } = recordRoutes;
      if (Buffer.byteLength(JSON.stringify(data)) <= maxPresenceBytes)
        return data as Record<string, unknown>;
      return refuse(`${name} has more than ${maxPresenceBytes} bytes.`);
    }
  } catch (error) {
    if (error instanceof ApiError) throw error;
  }
  return refuse(`${name} must be a JSON object, such as {"name":"Ada"}.`);
};

const checkNames = (
  query: Query,
  { collections, channels }: Record<keyof typeof kinds, string[]>,
) => {
  for (const [name, value] of Object.entries(query)) {
    if (plainNames.has(name)) continue;
    const [, part, of] = ofOne.exec(name) ?? [];
    const kind = part === 'presence' ? 'channels' : 'collections';
    const shown = JSON.stringify(name.slice(0, 80));
    if (of === undefined)
      refuse(`Unknown query parameter: ${shown}.`, `A filter names its collection: ${example}`);
    else if (!(kind === 'channels' ? channels : collections).includes(of))
      refuse(`${shown} is of no ${kinds[kind].thing} in "${kind}".`);
    else if (typeof value !== 'string') refuse(`${shown} may come once.`);
  }
};

/** @throws ApiError invalid_query, invalid_where, unauthenticated */
export const parseAskedEvents = (query: Query, identity: Identity): AskedEvents => {
  const collections = parseNames('collections', query.collections);
  const channels = parseNames('channels', query.channels);
  const count = collections.length + channels.length;
  if (count === 0) refuse('"collections" or "channels" has to name what to watch.', example);
  if (count > recordRoutes.maxWatchedCollections)
    refuse(`At most ${recordRoutes.maxWatchedCollections} collections and channels in one stream.`);
  checkNames(query, { collections, channels });
  const asked = collections.map((name) => {
    const part = (of: string) => query[`${of}.${name}`] as string | undefined;
    const group = part('group')?.toLowerCase();
    if (group !== undefined && !uuid.test(group)) refuse(`"group.${name}" must be a UUID.`);
    const filter = parseWhere(part('where'));
    return { name, filter, ownerId: parseMine(part('mine'), identity), group };
  });
  const here = new Map(
    channels.flatMap((channel) => {
      const text = query[`presence.${channel}`];
      return text === undefined ? [] : [[channel, parsePresence(channel, text)] as const];
    }),
  );
  return { collections: asked, channels, here };
};
