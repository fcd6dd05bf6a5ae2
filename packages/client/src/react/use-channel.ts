import { useEffect, useRef, useState } from 'react';
import type { Channel, ChannelMember, ChannelMessage } from '../channel-types.ts';

/** What `createClient` makes. */
interface ChannelSource {
  channel(name: string): Channel;
}

/**
 * Hears what is said in a channel, and says something there.
 * @param name null listens to nothing
 * @example
 * const { send } = useChannel(client, 'room:1', ({ data }) => show(data));
 */
export const useChannel = <T>(
  client: ChannelSource,
  name: string | null,
  onMessage: (message: ChannelMessage<T>) => void,
): { send: (data: T) => Promise<void>; error: Error | undefined } => {
  const [failed, setFailed] = useState<{ of: string; error: Error }>();
  const listener = useRef(onMessage);
  useEffect(() => {
    listener.current = onMessage;
  });
  useEffect(() => {
    if (name === null) return;
    const heard = (message: ChannelMessage<unknown>) =>
      listener.current(message as ChannelMessage<T>);
    return client.channel(name).on(heard, (error) => setFailed({ of: name, error }));
  }, [client, name]);
  return {
    send: (data) => client.channel(name ?? '').send(data),
    error: failed?.of === name ? failed.error : undefined,
  };
};

/**
 * Who is in a channel; undefined until it is known. What is said of the caller may change with each rendering.
 * @param name null looks at nothing
 * @param data null: the caller is not shown
 */
export const usePresence = <P extends object>(
  client: ChannelSource,
  name: string | null,
  data: P | null = null,
): { members: ChannelMember<P>[] | undefined; error: Error | undefined } => {
  const [shown, setShown] = useState<{ of: string; members?: ChannelMember<P>[]; error?: Error }>();
  const key = JSON.stringify(data);
  useEffect(() => {
    if (name === null) return;
    return client.channel(name).presence(
      JSON.parse(key) as P | null,
      (members) => setShown({ of: name, members }),
      (error) => setShown((before) => ({ ...before, of: name, error })),
    );
  }, [client, name, key]);
  const now = shown?.of === name ? shown : undefined;
  return { members: now?.members, error: now?.error };
};
