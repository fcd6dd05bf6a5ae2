import { ApiError, type ChannelPresence, recordRoutes } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import type { FanOut } from './fan-out.ts';
import type { ChannelListener } from './listener.ts';

/** That are listened to at once, in one process. */
const maxChannels = 2000;
/** Of who is told of as there, in characters of a stream at once. */
const maxHereLength = 192 * 1024;

export const frame = (event: string, data: string) => `event: ${event}\ndata: ${data}\n\n`;

export const showMember = ({ id, userId, data, since }: ChannelPresence) => ({
  id,
  userId,
  data,
  since,
});

type Project = Identity['project'];
interface OfProject {
  project: Project;
  listeners: Set<ChannelListener>;
  channels: Map<string, Set<ChannelListener>>;
}

/** The streams of this process that listen to channels. */
export class Hub {
  readonly #projects = new Map<number, OfProject>();
  readonly #byId = new Map<string, ChannelListener>();
  readonly #fanOut: FanOut;
  readonly #membersIn: (projectNumber: number, channel: string) => ChannelPresence[];

  constructor(
    fanOut: FanOut,
    membersIn: (projectNumber: number, channel: string) => ChannelPresence[],
  ) {
    this.#fanOut = fanOut;
    this.#membersIn = membersIn;
  }

  /** Projects of which there are listeners. */
  get projects(): number[] {
    return [...this.#projects.keys()];
  }

  has(projectNumber: number): boolean {
    return this.#projects.has(projectNumber);
  }

  find(projectNumber: number, id: string): ChannelListener | undefined {
    const listener = this.#byId.get(id);
    return listener?.identity.project.number === projectNumber ? listener : undefined;
  }

  /** @throws ApiError rate_limited where too many channels are listened to */
  checkRoom({ project }: Identity, names: readonly string[]): void {
    const channels = this.#projects.get(project.number)?.channels;
    const more = names.filter((name) => !channels?.has(name)).length;
    if ((channels?.size ?? 0) + more <= maxChannels) return;
    throw new ApiError('rate_limited', `${maxChannels} channels of this project are in use.`, {
      retryAfterSeconds: 10,
    });
  }

  add(listener: ChannelListener): void {
    const { project } = listener.identity;
    const known = this.#projects.get(project.number);
    const { listeners, channels } = known ?? {
      listeners: new Set<ChannelListener>(),
      channels: new Map<string, Set<ChannelListener>>(),
    };
    this.#projects.set(project.number, { project, listeners, channels });
    this.#byId.set(listener.id, listener);
    listeners.add(listener);
    for (const name of listener.channels)
      channels.set(name, (channels.get(name) ?? new Set()).add(listener));
    this.#settle(listener);
  }

  remove(listener: ChannelListener): void {
    const { number } = listener.identity.project;
    const known = this.#projects.get(number);
    if (!known) return;
    this.#byId.delete(listener.id);
    known.listeners.delete(listener);
    for (const name of listener.channels) {
      const ofChannel = known.channels.get(name);
      ofChannel?.delete(listener);
      if (ofChannel?.size === 0) known.channels.delete(name);
    }
    if (known.listeners.size === 0) this.#projects.delete(number);
  }

  /** Tells those who listen; who can not take it, or is too much now, is told later that they have missed it. */
  tell(projectNumber: number, channel: string, text: string, messages = 1): void {
    const known = this.#projects.get(projectNumber);
    const listeners = known?.channels.get(channel);
    if (!known || !listeners) return;
    const isTold = this.#fanOut.take(known.project, listeners.size, text.length);
    for (const listener of listeners) if (!isTold || !listener.push(text)) listener.miss(messages);
  }

  /** Tells those who have missed something, as many as may be told now. */
  settle(): void {
    for (const { listeners } of this.#projects.values()) {
      const texts = new Map<string, string>();
      for (const listener of listeners)
        if (listener.owed.size > 0 && !this.#settle(listener, texts)) break;
    }
  }

  /** @param texts of who is there, by channel, as others were told just now */
  #settle(listener: ChannelListener, texts = new Map<string, string>()): boolean {
    const { missed, owed } = listener;
    const { number } = listener.identity.project;
    if (missed > 0) {
      if (!listener.push(frame('missed', JSON.stringify({ count: missed })))) return true;
      listener.missed = 0;
    }
    for (const channel of [...owed]) {
      const text = texts.get(channel) ?? this.#here(number, channel);
      texts.set(channel, text);
      if (!listener.hasRoomFor(text.length)) return true;
      if (!this.#fanOut.take(listener.identity.project, 1, text.length)) return false;
      if (listener.push(text)) owed.delete(channel);
    }
    return true;
  }

  #here(projectNumber: number, channel: string): string {
    const all = this.#membersIn(projectNumber, channel);
    const members: string[] = [];
    let length = 0;
    for (const member of all.slice(0, recordRoutes.maxChannelMembers)) {
      const shown = JSON.stringify(showMember(member));
      length += shown.length;
      if (length > maxHereLength) break;
      members.push(shown);
    }
    const hasMore = members.length < all.length;
    const rest = JSON.stringify({ channel, type: 'here', hasMore });
    return frame('presence', `${rest.slice(0, -1)},"members":[${members.join()}]}`);
  }
}
