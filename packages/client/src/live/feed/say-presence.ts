import type { BacklotError } from '../../error.ts';
import { isPassing, pauseMsAfter, type Transport } from '../../transport.ts';
import { type Failure, toKey, type Want } from './want.ts';

/** Says of the present stream who is there by it, and again what has changed of it. */
export const createSayPresence = (
  transport: Transport,
  wanted: () => ReadonlyMap<string, Want>,
  fail: (error: Failure, keys: readonly string[]) => void,
) => {
  let stream: string | undefined;
  /** What is said in each channel, as JSON. */
  let said = new Map<string, string>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  const put = async (channel: string, text: string, of: string) => {
    try {
      const body = { stream: of, channel, data: JSON.parse(text) };
      await transport.send('PUT', '/events/presence', { body });
    } catch (error) {
      if (stream !== of || said.get(channel) !== text) return;
      if (!isPassing(error as BacklotError)) return fail(error as Failure, [toKey({ channel })]);
      said.delete(channel);
      clearTimeout(timer);
      timer = setTimeout(say, pauseMsAfter(error as BacklotError, 5));
    }
  };
  const say = () => {
    if (stream === undefined) return;
    for (const { channel, presence = null } of wanted().values()) {
      const text = JSON.stringify(presence);
      if (channel === undefined || (said.get(channel) ?? 'null') === text) continue;
      said.set(channel, text);
      void put(channel, text, stream);
    }
  };
  const end = () => {
    stream = undefined;
    said = new Map();
    clearTimeout(timer);
  };
  return {
    begin(of: string | undefined) {
      end();
      stream = of;
      say();
    },
    say,
    end,
  };
};
