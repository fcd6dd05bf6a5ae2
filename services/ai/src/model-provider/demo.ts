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

/** What was asked, and what could be seen of the images with it. */
const describeQuestion = ({ messages, images }: CompletionRequest): string => {
  const text = messages.at(-1)?.text ?? '';
  if (!images?.size) return text;
  const sizes = [...images.values()].map((data) => `${Buffer.from(data, 'base64').length} bytes`);
  const count = sizes.length === 1 ? 'one image' : `${sizes.length} images`;
  return `(with ${count} of ${sizes.join(', ')}) ${text}`;
};

const objectFor = (question: string, maxBytes: number): string => {
  const candidates = [{ demo: true, message: answerTo(question) }, { demo: true }];
  const texts = candidates.map((candidate) => JSON.stringify(candidate));
  return texts.find((text) => Buffer.byteLength(text) <= maxBytes) ?? '{}';
};

/** As a model streams: a word with the space after it at a time, or the white space before the first. */
const splitIntoWords = (text: string): string[] => text.match(/\s*\S+\s*|\s+/g) ?? [];

/** Works offline and says that it is no model; the same prompt always gets the same answer. */
export const createDemoProvider = (schemas: JsonSchemas): ModelProvider => {
  const answer = async (request: CompletionRequest, maxBytes: number) => {
    const { messages, format, requester } = request;
    const question = describeQuestion(request);
    if (format === 'text') return answerTo(question);
    if (format === 'json') return objectFor(question, maxBytes);
    const seed = crc32(JSON.stringify(messages));
    return schemas.example(requester, format.schema, { seed, maxBytes });
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
