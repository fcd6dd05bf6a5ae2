import { ApiError, type EventPayloads, recordRoutes } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { checkChannel } from './channel-access.ts';
import { createFanOut } from './fan-out.ts';
import { frame, Hub, showMember } from './hub.ts';
import type { ChannelListener } from './listener.ts';
import { Members } from './members.ts';
import { createOutgoing, type Said } from './outgoing.ts';
import { createPresence, listedMembers, type PresenceData } from './presence.ts';

/** How often a process says that it lives. */
const beatEveryMs = 5000;
/** How often those are looked at who have missed something. */
const settleEveryMs = 500;
/** Messages to other processes that the bus has not taken yet. */
const maxUnderWay = 200;

type Publish = <T extends 'channel.said' | 'presence.told'>(
  topic: T,
  payload: EventPayloads[T],
) => Promise<void>;

export interface ChannelsDeps {
  publish: Publish;
  /** The id of this process. */
  process: string;
  /** Epoch milliseconds. */
  now: () => number;
  /** Milliseconds that only go forward. */
  clock: () => number;
  /** Whether another process has streams of the project. */
  isWatchedElsewhere: (projectNumber: number) => boolean;
  onFailure: (error: unknown) => void;
}

export type PresenceByChannel = ReadonlyMap<string, PresenceData>;

/** Messages that are not kept, and who is there, of the streams of this process and by the bus of others. */
export const createChannels = (deps: ChannelsDeps) => {
  const { publish, process, now, clock, isWatchedElsewhere, onFailure } = deps;
  let underWay = 0;
  const members: Members = new Members(clock, (projectNumber, type, member) => {
    const data = { channel: member.channel, type, member: showMember(member) };
    hub.tell(projectNumber, member.channel, frame('presence', JSON.stringify(data)), 0);
  });
  const hub = new Hub(createFanOut(clock), (number, channel) => members.in(number, channel));
  const presence = createPresence({
    hub,
    members,
    process,
    now,
    tell(told) {
      // What is not told is asked for: a version is missing.
      if (underWay >= maxUnderWay) return;
      underWay++;
      void publish('presence.told', { process, told })
        .catch(onFailure)
        .finally(() => underWay--);
    },
  });
  const tellHere = ({ projectNumber, channel, text }: Said) =>
    hub.tell(projectNumber, channel, text);
  const outgoing = createOutgoing(
    (messages) => publish('channel.said', { messages }),
    tellHere,
    onFailure,
  );

  const checkSize = (data: unknown, maxBytes: number): void => {
    if (Buffer.byteLength(JSON.stringify(data)) > maxBytes)
      throw new ApiError('invalid_body', `"data" has more than ${maxBytes} bytes as JSON.`);
  };

  return {
    hub,
    /** @throws ApiError unauthenticated, forbidden, rate_limited */
    check(identity: Identity, channels: readonly string[], here: PresenceByChannel): void {
      for (const channel of channels) checkChannel(identity, channel, 'listen');
      for (const channel of here.keys()) checkChannel(identity, channel, 'presence');
      hub.checkRoom(identity, channels);
    },
    /** Answers what ends it. */
    join(listener: ChannelListener, here: PresenceByChannel): () => void {
      hub.add(listener);
      const leave = () => {
        hub.remove(listener);
        for (const channel of listener.channels) presence.leave(listener, channel);
      };
      try {
        for (const [channel, data] of here) presence.say(listener, channel, data);
      } catch (error) {
        leave();
        throw error;
      }
      return leave;
    },
    /** @throws ApiError unauthenticated, forbidden, invalid_body, overloaded */
    async say(identity: Identity, channel: string, data: unknown): Promise<void> {
      checkChannel(identity, channel, 'broadcast');
      checkSize(data, recordRoutes.maxMessageBytes);
      const { caller, userId, project } = identity;
      const from = { caller, userId: caller === 'user' ? userId : null };
      const message = { channel, from, data, at: new Date(now()).toISOString() };
      const text = frame('message', JSON.stringify(message));
      const said = { projectNumber: project.number, channel, text };
      if (isWatchedElsewhere(project.number)) await outgoing.add(said, project.ownerId);
      else tellHere(said);
    },
    /** @throws ApiError unauthenticated, forbidden, invalid_body, not_found, rate_limited */
    setPresence(
      identity: Identity,
      { stream, channel, data }: { stream: string; channel: string; data: PresenceData | null },
    ): void {
      checkChannel(identity, channel, 'presence');
      checkSize(data, recordRoutes.maxPresenceBytes);
      presence.set(identity, stream, channel, data);
    },
    /** @throws ApiError unauthenticated, forbidden */
    list(identity: Identity, channel: string) {
      checkChannel(identity, channel, 'listen');
      const { items, hasMore } = listedMembers(members, identity.project.number, channel);
      return { items: items.map(showMember), hasMore };
    },
    hearSaid: ({ messages }: EventPayloads['channel.said']) => messages.forEach(tellHere),
    hearPresence: ({ process: from, told }: EventPayloads['presence.told']) =>
      presence.hear(from, told),
    sweeps: [
      { run: async () => presence.beat(), everyMs: beatEveryMs },
      { run: async () => hub.settle(), everyMs: settleEveryMs },
    ],
  };
};

export type Channels = ReturnType<typeof createChannels>;
