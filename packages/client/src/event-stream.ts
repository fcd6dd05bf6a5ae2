/** A server-sent event; a comment, which only shows that the connection lives, has an empty name and no data. */
export interface ServerSentEvent {
  name: string;
  id: string;
  // biome-ignore lint/suspicious/noExplicitAny: whoever reads the stream knows its events
  data: any;
}

/** The events of an answer as they come. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<ServerSentEvent> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let buffered = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      buffered += decoder.decode(value, { stream: true });
      const events = buffered.split('\n\n');
      buffered = events.pop() ?? '';
      for (const event of events) {
        // The platform's events have one line of each.
        const field = (name: string) => new RegExp(`^${name}: ?(.*)`, 'm').exec(event)?.[1] ?? '';
        const data = field('data');
        yield { name: field('event'), id: field('id'), data: data && JSON.parse(data) };
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
