import { BacklotError, type Failure } from '../error.ts';
import { readEvents } from '../event-stream.ts';
import type { Transport } from '../transport.ts';

/** `fileId`: of an image that the caller may read; in messages of role `user`, up to 4. */
export type MessagePart = { type: 'text'; text: string } | { type: 'image'; fileId: string };

export interface Message {
  role: 'system' | 'user' | 'assistant';
  content: string | readonly MessagePart[];
}

export interface Prompt {
  messages: readonly Message[];
  /** Put before all messages. */
  system?: string;
  /** The name of an owner's prompt, in place of `system`. */
  prompt?: string;
  /** `true`: any JSON; else a JSON Schema, an example or a sketch of the answer. */
  json?: boolean | Record<string, unknown>;
  maxTokens?: number;
  signal?: AbortSignal;
}

export interface Generated {
  text: string;
  /** With `json`: the parsed value. */
  data?: unknown;
}

export type Ai = ReturnType<typeof createAi>;

const streaming = 'for await (const text of client.ai.stream({ messages })) streams.';

async function* streamText(
  send: Transport['send'],
  { signal, ...body }: Prompt,
): AsyncGenerator<string, Generated> {
  const response = await send('POST', '/ai', {
    body: { ...body, stream: true },
    signal,
    // A stream takes no Idempotency-Key.
    canRepeat: false,
  });
  if (!response.body) throw new Error('This runtime does not stream answers.');
  for await (const { name, data } of readEvents(response.body)) {
    if (name === 'delta') yield data.text as string;
    else if (name === 'done') return data as Generated;
    else if (name === 'error') throw new BacklotError(response.status, data as Failure);
  }
  throw new BacklotError(0, { error: 'The answer broke off.' });
}

export const createAi = ({ call, send }: Transport) => ({
  async generate({ signal, ...body }: Prompt): Promise<Generated> {
    if ('stream' in body) throw new TypeError(`generate answers at once: ${streaming}`);
    return call('POST', '/ai', { body, signal });
  },
  /** Yields the text as it comes; the generator's return value is the whole answer. */
  stream(prompt: Prompt, ...others: never[]): AsyncGenerator<string, Generated> {
    if (others.length > 0) throw new TypeError(`stream takes no callback: ${streaming}`);
    return streamText(send, prompt);
  },
});
