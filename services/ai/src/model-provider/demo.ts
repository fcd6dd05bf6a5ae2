import { crc32 } from 'node:zlib';
import type { JsonSchemas } from '../json-schema/json-schemas.ts';
import type { CompletionRequest, ModelProvider, Prompt } from './model-provider.ts';

/** English text has about four bytes a token in common tokenizers; here that is the definition. */
const bytesPerToken = 4;
const quotedCharacters = 200;

const tokensOf = (bytes: number) => Math.max(1, Math.ceil(bytes / bytesPerToken));

const promptTokens = ({ messages, format }: Prompt): number => {
  const schema = typeof format === 'string' ? '' : JSON.stringify(format.schema);
  return tokensOf(
    messages.reduce((sum, { text }) => sum + Buffer.byteLength(text), Buffer.byteLength(schema)),
  );
};

/** Cut between characters. */
const cut = (text: string, maxBytes: number): string =>
  new TextDecoder().decode(Buffer.from(text).subarray(0, maxBytes), { stream: true });

const answerTo = (question: string): string =>
  'This is a demo answer: no language model is connected to this backend yet. ' +
  `You wrote: ${cut(question, quotedCharacters)}`;

const objectFor = (question: string, maxBytes: number): string => {
  const candidates = [{ demo: true, message: answerTo(question) }, { demo: true }];
  const texts = candidates.map((each) => JSON.stringify(each));
  return texts.find((each) => Buffer.byteLength(each) <= maxBytes) ?? '{}';
};

/** Works offline and says that it is no model; the same prompt always gets the same answer. */
export const createDemoProvider = (schemas: JsonSchemas): ModelProvider => {
  const answer = async ({ messages, format }: CompletionRequest, maxBytes: number) => {
    const question = messages.at(-1)?.text ?? '';
    if (format === 'text') return answerTo(question);
    if (format === 'json') return objectFor(question, maxBytes);
    return schemas.example(format.schema, { seed: crc32(JSON.stringify(messages)), maxBytes });
  };
  return {
    promptTokensAtMost: promptTokens,
    async complete(request) {
      request.signal.throwIfAborted();
      const maxBytes = request.maxOutputTokens * bytesPerToken;
      const whole = await answer(request, maxBytes);
      const text = cut(whole, maxBytes);
      return {
        text,
        promptTokens: promptTokens(request),
        outputTokens: tokensOf(Buffer.byteLength(text)),
        isCut: text !== whole,
      };
    },
  };
};
