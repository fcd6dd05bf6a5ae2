import { newId } from '../../new-id.ts';
import type { Transport } from '../../transport.ts';
import { createLeader, type Message } from './leader.ts';
import { openStream, type Source, type StreamListener } from './stream.ts';
import { type Failure, toKey, type Want } from './want.ts';

/** A tab that hears nothing of what it wants, or nothing at all, for as long opens a stream of its own. */
const patienceMs = 5000;
const silentMs = 90_000;
const lookMs = 15_000;

interface Locks {
  request(name: string, options: { signal: AbortSignal }, hold: () => Promise<void>): Promise<void>;
}

/** Of browsers alone: in Node a channel would reach other threads, and keep the process. */
const findLocks = (): Locks | undefined =>
  'document' in globalThis && 'BroadcastChannel' in globalThis
    ? (globalThis as { navigator?: { locks?: Locks } }).navigator?.locks
    : undefined;

const fromPlain = ({ message, ...rest }: Failure): Failure =>
  Object.assign(new Error(message), rest);

/** One stream for all tabs: whichever holds the lock reads it for the others. */
const shareStream = (
  transport: Transport,
  locks: Locks,
  name: string,
  listener: StreamListener,
): Source => {
  const tab = newId();
  const channel = new BroadcastChannel(name);
  const post = (message: Message) => channel.postMessage(message);
  const closing = new AbortController();
  let wanted: readonly Want[] = [];
  let position: string | undefined;
  let leader: ReturnType<typeof createLeader> | undefined;
  let alone: Source | undefined;
  const heard = { at: Date.now(), keys: new Set<string>() };
  let patience: ReturnType<typeof setTimeout> | undefined;

  const goAlone = () => {
    if (leader || alone || wanted.length === 0) return;
    post({ kind: 'wants', tab, wants: [] });
    alone = openStream(transport, listener, position);
    alone.want(wanted);
  };
  const announce = () => {
    if (leader) leader.want(tab, wanted);
    else if (alone) alone.want(wanted);
    else {
      post({ kind: 'wants', tab, wants: wanted });
      clearTimeout(patience);
      patience = setTimeout(() => {
        if (!wanted.every((want) => heard.keys.has(toKey(want)))) goAlone();
      }, patienceMs);
    }
  };

  const follow = (message: Exclude<Message, { kind: 'wants' }>) => {
    heard.at = Date.now();
    switch (message.kind) {
      case 'who':
        return post({ kind: 'wants', tab, wants: wanted });
      case 'ready':
        heard.keys = new Set(message.keys);
        return listener.ready(message.keys);
      case 'change':
        position = message.position;
        return listener.change(message.change, position);
      case 'told':
        return listener.told(message.told);
      case 'reset':
        position = message.position;
        return listener.reset(position);
      case 'fail':
        for (const key of message.keys ?? []) heard.keys.add(key);
        return listener.fail(fromPlain(message.error), message.keys);
    }
  };
  channel.onmessage = ({ data }: { data: unknown }) => {
    const message = data as Message;
    if (leader) {
      if (message.kind === 'wants') leader.want(message.tab, message.wants);
    } else if (!alone && message.kind !== 'wants') follow(message);
  };

  const lead = () => {
    alone?.close();
    alone = undefined;
    leader = createLeader(transport, post, listener, position);
    leader.want(tab, wanted);
  };
  locks
    .request(
      name,
      { signal: closing.signal },
      () =>
        new Promise<void>((release) => {
          closing.signal.addEventListener('abort', () => release());
          lead();
        }),
    )
    .catch(() => {});
  const timer = setInterval(() => {
    if (Date.now() > heard.at + silentMs) goAlone();
  }, lookMs);

  return {
    want(wants) {
      wanted = wants;
      announce();
    },
    close() {
      clearInterval(timer);
      clearTimeout(patience);
      if (!leader) post({ kind: 'wants', tab, wants: [] });
      leader?.close();
      alone?.close();
      closing.abort();
      channel.close();
    },
  };
};

/** @param name by which tabs of the same user at the same project know each other */
export const openSource = (
  transport: Transport,
  name: string,
  listener: StreamListener,
): Source => {
  const locks = findLocks();
  return locks ? shareStream(transport, locks, name, listener) : openStream(transport, listener);
};
