export interface ServerEvent {
  event: string;
  id: string | undefined;
  /** JSON. */
  data: string;
}

/** Of an event; a server that sends more is not ours. */
const maxBlockLetters = 1024 * 1024;

const parse = (block: string): ServerEvent | undefined => {
  const fields = new Map(
    block.split('\n').map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trimStart()];
    }),
  );
  const data = fields.get('data');
  if (data === undefined) return undefined;
  return { event: fields.get('event') ?? 'message', id: fields.get('id'), data };
};

/** Server-sent events as this API writes them, as they come. */
export async function* readEvents(
  body: AsyncIterable<Uint8Array>,
): AsyncGenerator<ServerEvent, void> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    const blocks = rest.split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const event = parse(block);
      if (event) yield event;
    }
    if (rest.length > maxBlockLetters) return;
  }
}
