import { crc32 } from 'node:zlib';
import type { JsonSchemas } from '../json-schema/json-schemas.ts';
import {
  bytesPerToken,
  type Completion,
  type CompletionRequest,
  cut,
  estimatePromptTokens,
  estimateTokens,
  ModelKeyRefused,
  type ModelProvider,
} from './model-provider.ts';

const quotedCharacters = 200;

const answerTo = (question: string): string =>
  'This is a demo answer: no language model is connected to this backend yet. ' +
  `You wrote: ${cut(question, quotedCharacters)}`;

const objectFor = (question: string, maxBytes: number): string => {
  const candidates = [{ demo: true, message: answerTo(question) }, { demo: true }];
  const texts = candidates.map((candidate) => JSON.stringify(candidate));
  return texts.find((text) => Buffer.byteLength(text) <= maxBytes) ?? '{}';
};

/** As a model streams: a word with the space after it at a time, or the white space before the first. */
const splitIntoWords = (text: string): string[] => text.match(/\s*\S+\s*|\s+/g) ?? [];

/** Works offline and says that it is no model; the same prompt always gets the same answer. */
export const createDemoProvider = (schemas: JsonSchemas): ModelProvider => {
  const answer = async ({ messages, format, flow }: CompletionRequest, maxBytes: number) => {
    const question = messages.at(-1)?.text ?? '';
    if (format === 'text') return answerTo(question);
    if (format === 'json') return objectFor(question, maxBytes);
    const seed = crc32(JSON.stringify(messages));
    return schemas.example(flow, format.schema, { seed, maxBytes });
  };

  const complete = async (request: CompletionRequest): Promise<Completion> => {
    request.signal.throwIfAborted();
    const maxBytes = request.maxOutputTokens * bytesPerToken;
    const whole = await answer(request, maxBytes);
    const text = cut(whole, maxBytes);
    return {
      text,
      promptTokens: estimatePromptTokens(request),
      outputTokens: estimateTokens(text),
      isCut: text !== whole,
    };
  };

  return {
    takesChoices: false,
    promptTokensAtMost: estimatePromptTokens,
    complete,
    async *stream(request) {
      const completion = await complete(request);
      for (const piece of splitIntoWords(completion.text)) {
        request.signal.throwIfAborted();
        yield piece;
      }
      yield completion;
    },
    async checkKey() {
      throw new ModelKeyRefused('The demo takes no keys.');
    },
  };
};
