import type { ChannelMember, ChannelMessage } from '../channel-types.ts';
import type { Transport } from '../transport.ts';
import type { Fields } from '../values.ts';
import type { Told } from './feed/stream.ts';
import { shareLive } from './shared-live.ts';

type OnError = (error: Error) => void;

/** A stream that is just opened tells who is there; one that another tab has opened has done so before. */
const askMs = 300;

const warn =
  (channel: string): OnError =>
  ({ message }) =>
    console.warn(`Backlot: channel "${channel}": ${message}`);

/** What a page's functions throw is the page's: the stream goes on. @returns what ends it */
export const listen = (
  transport: Transport,
  channel: string,
  onMessage: (message: ChannelMessage<never>) => void,
  onError: OnError = warn(channel),
): (() => void) =>
  shareLive(transport).feed.add({
    want: () => ({ channel }),
    begin() {},
    told({ name, data }) {
      if (name === 'message') queueMicrotask(() => onMessage(data as never));
    },
    fail: onError,
  });

/** @returns what ends it */
export const watchPresence = (
  transport: Transport,
  channel: string,
  presence: Fields | null,
  onMembers: (members: ChannelMember<never>[]) => void,
  onError: OnError = warn(channel),
): (() => void) => {
  const members = new Map<string, ChannelMember<Fields>>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;

  /** A user once, by what they have said last. */
  const show = () => {
    const shown = new Map<string, ChannelMember<Fields>>();
    for (const member of members.values()) shown.set(member.userId ?? member.id, member);
    queueMicrotask(() => onMembers([...shown.values()] as never));
  };
  const replace = (all: readonly ChannelMember<Fields>[]) => {
    clearTimeout(timer);
    members.clear();
    for (const member of all) members.set(member.id, member);
    show();
  };
  const ask = async () => {
    const asked = timer;
    const query = { channel };
    const { items } = await transport.call<{ items: ChannelMember<Fields>[] }>(
      'GET',
      '/events/presence',
      {
        query,
      },
    );
    if (!isOver && asked === timer) replace(items);
  };
  const leave = shareLive(transport).feed.add({
    want: () => (presence === null ? { channel } : { channel, presence }),
    begin() {
      clearTimeout(timer);
      timer = setTimeout(() => void ask().catch(onError), askMs);
    },
    forget() {
      members.clear();
    },
    told({ name, data }: Told) {
      if (name !== 'presence') return;
      const { type, member } = data;
      if (type === 'here') return replace(data.members as ChannelMember<Fields>[]);
      const { id } = member as ChannelMember<Fields>;
      if (type === 'leave') members.delete(id);
      else members.set(id, member as ChannelMember<Fields>);
      show();
    },
    fail: onError,
  });
  return () => {
    isOver = true;
    clearTimeout(timer);
    leave();
  };
};
