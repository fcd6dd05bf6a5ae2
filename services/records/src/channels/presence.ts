import { ApiError, type ChannelPresence, type PresenceTold, recordRoutes } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import type { Hub } from './hub.ts';
import { type ChannelListener, toCallerName } from './listener.ts';
import type { Members } from './members.ts';

export type PresenceData = ChannelPresence['data'];

/** Changes of so long are told other processes in one message. */
const gatherMs = 20;
/** A project without members is told of for so long, for those who have missed that the last one went. */
const rememberedMs = 60_000;
const maxVersions = 1000;

interface PresenceDeps {
  hub: Hub;
  members: Members;
  /** The id of this process. */
  process: string;
  /** Tells other processes, as far as they can be reached. */
  tell: (told: PresenceTold) => void;
  /** Epoch milliseconds. */
  now: () => number;
}

interface Changes {
  here: Map<string, ChannelPresence>;
  gone: Map<string, { id: string; channel: string }>;
}

const full = () =>
  new ApiError('rate_limited', 'As many are there as may be. Listening needs no presence.', {
    retryAfterSeconds: 10,
  });

/** Who is there: each process says it of its own streams, and tells the others what changes. */
export const createPresence = ({ hub, members, process, tell, now }: PresenceDeps) => {
  const changes = new Map<number, Changes>();
  const emptyAt = new Map<number, number>();

  const findVersion = (projectNumber: number) => members.find(process, projectNumber)?.version ?? 0;

  const flush = () => {
    for (const [projectNumber, { here, gone }] of changes) {
      const before = findVersion(projectNumber);
      members.setVersion(process, projectNumber, before + 1);
      const version = before + 1;
      const told = { here: [...here.values()], gone: [...gone.values()] };
      if (members.hasOthers(process))
        tell({ kind: 'changed', projectNumber, before, version, ...told });
      const isEmpty = members.find(process, projectNumber)?.members.size === 0;
      if (isEmpty) emptyAt.set(projectNumber, now());
      else emptyAt.delete(projectNumber);
    }
    changes.clear();
  };
  const note = (projectNumber: number): Changes => {
    if (changes.size === 0) setTimeout(flush, gatherMs).unref();
    const known = changes.get(projectNumber) ?? { here: new Map(), gone: new Map() };
    changes.set(projectNumber, known);
    return known;
  };

  const leave = (listener: ChannelListener, channel: string) => {
    const { number } = listener.identity.project;
    const gone = { id: listener.memberId, channel };
    if (!members.has(process, number, gone)) return;
    members.drop(process, number, gone);
    const key = `${gone.id} ${channel}`;
    const { here, gone: allGone } = note(number);
    here.delete(key);
    allGone.set(key, gone);
  };

  /** @throws ApiError rate_limited */
  const say = (listener: ChannelListener, channel: string, data: PresenceData | null) => {
    if (data === null) return leave(listener, channel);
    const { caller, userId, project } = listener.identity;
    const before = members
      .find(process, project.number)
      ?.members.get(`${listener.memberId} ${channel}`);
    if (!before && !members.hasRoom(process, project.number, channel)) throw full();
    const member: ChannelPresence = {
      id: listener.memberId,
      channel,
      userId: caller === 'user' ? userId : null,
      data,
      since: before?.since ?? new Date(now()).toISOString(),
    };
    members.put(process, project.number, member);
    const { here, gone } = note(project.number);
    here.set(`${member.id} ${channel}`, member);
    gone.delete(`${member.id} ${channel}`);
  };

  const setHere = (told: Extract<PresenceTold, { kind: 'set' }>) => {
    const { projectNumber, stream, caller, channel, data } = told;
    const listener = hub.find(projectNumber, stream);
    if (!listener || toCallerName(listener.identity) !== caller) return false;
    if (!listener.channels.includes(channel)) return false;
    say(listener, channel, data);
    return true;
  };

  const tellAll = (projectNumber: number) => {
    const known = members.find(process, projectNumber);
    if (!known) return;
    flush();
    tell({
      kind: 'all',
      projectNumber,
      version: known.version,
      here: [...known.members.values()],
    });
  };
  const ask = (of: string, projectNumber: number) => tell({ kind: 'ask', of, projectNumber });

  const tellVersions = () => {
    const versions = members.versions(process);
    for (let start = 0; start === 0 || start < versions.length; start += maxVersions)
      tell({ kind: 'alive', versions: versions.slice(start, start + maxVersions) });
  };

  const hear = (from: string, told: PresenceTold): void => {
    if (from === process) return;
    // A process that begins is told at once what there is.
    if (members.heard(from)) tellVersions();
    switch (told.kind) {
      case 'alive':
        for (const [number, version] of told.versions)
          if (members.find(from, number)?.version !== version) ask(from, number);
        return;
      case 'changed': {
        const { projectNumber, before, version, here, gone } = told;
        if ((members.find(from, projectNumber)?.version ?? 0) !== before) {
          ask(from, projectNumber);
          return;
        }
        for (const member of gone) members.drop(from, projectNumber, member);
        for (const member of here) members.put(from, projectNumber, member);
        members.setVersion(from, projectNumber, version);
        return;
      }
      case 'all':
        members.replace(from, told.projectNumber, told.version, told.here);
        return;
      case 'ask':
        if (told.of === process) tellAll(told.projectNumber);
        return;
      case 'set':
        try {
          setHere(told);
        } catch (error) {
          // There is nobody any more to whom it could be said.
          if (!(error instanceof ApiError)) throw error;
        }
    }
  };

  return {
    say,
    leave,
    hear,
    /** By a stream's id, wherever the stream is. @throws ApiError not_found, rate_limited */
    set(identity: Identity, stream: string, channel: string, data: PresenceData | null): void {
      const { number: projectNumber } = identity.project;
      const caller = toCallerName(identity);
      const told = { kind: 'set' as const, projectNumber, stream, caller, channel, data };
      if (setHere(told)) return;
      if (hub.find(projectNumber, stream) || !members.hasOthers(process))
        throw new ApiError('not_found', 'You have no stream of this id with this channel.', {
          hint: 'The event "ready" of GET /events?channels=… tells it.',
        });
      tell(told);
    },
    /** Says that this process lives, and takes those for gone that were not heard of. */
    beat(): void {
      for (const [number, at] of emptyAt)
        if (at + rememberedMs < now()) {
          members.forgetProject(process, number);
          emptyAt.delete(number);
        }
      tellVersions();
      members.forgetSilent(process);
    },
  };
};

export const listedMembers = (members: Members, projectNumber: number, channel: string) => {
  const all = members.in(projectNumber, channel);
  const { maxChannelMembers } = recordRoutes;
  return { items: all.slice(0, maxChannelMembers), hasMore: all.length > maxChannelMembers };
};
