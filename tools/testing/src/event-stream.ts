import { until } from './until.ts';

export interface ReceivedEvent {
  event: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into events of every shape
  data: any;
  id: string;
}

export interface ReceivedEvents {
  status: number;
  headers: Headers;
  /** Those with data. */
  events: ReceivedEvent[];
  /** All that came. */
  text(): string;
  lastEventId(): string;
  isClosed(): boolean;
  /** Takes the next so many of these kinds, once they are there. Default changes. */
  take(count: number, ...kinds: string[]): Promise<ReceivedEvent[]>;
  close(): void;
}

const parse = (block: string) => {
  const fields = new Map<string, string>();
  for (const line of block.split('\n')) {
    const colon = line.indexOf(': ');
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 2));
  }
  return fields;
};

/** Reads server-sent events as they come. */
export const receiveEvents = async (
  url: string,
  headers: Record<string, string> = {},
): Promise<ReceivedEvents> => {
  const leaving = new AbortController();
  const response = await fetch(url, { headers, signal: leaving.signal });
  const events: ReceivedEvent[] = [];
  let text = '';
  let rest = '';
  let lastId = '';
  let isClosed = false;
  const decoder = new TextDecoder();
  const read = async () => {
    for await (const chunk of response.body ?? []) {
      const part = decoder.decode(chunk, { stream: true });
      text += part;
      const blocks = (rest + part).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const fields = parse(block);
        lastId = fields.get('id') ?? lastId;
        const data = fields.get('data');
        if (data === undefined) continue;
        events.push({
          event: fields.get('event') ?? 'message',
          data: JSON.parse(data),
          id: lastId,
        });
      }
    }
  };
  void read()
    .catch(() => undefined)
    .finally(() => {
      isClosed = true;
    });
  return {
    status: response.status,
    headers: response.headers,
    events,
    text: () => text,
    lastEventId: () => lastId,
    isClosed: () => isClosed,
    async take(count, ...kinds) {
      const wanted = kinds.length > 0 ? kinds : ['change'];
      const found = () => events.filter(({ event }) => wanted.includes(event));
      await until(() => found().length >= count);
      const taken = found().slice(0, count);
      for (const one of taken) events.splice(events.indexOf(one), 1);
      return taken;
    },
    close: () => leaving.abort(),
  };
};
