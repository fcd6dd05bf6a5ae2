import { ApiError } from '@backlot/contract';
import { isTooDeep, type JsonSchemas } from '../json-schema/json-schemas.ts';
import {
  type Completion,
  type CompletionRequest,
  type ModelProvider,
  ModelProviderFailed,
  type Prompt,
} from '../model-provider/model-provider.ts';

/** What a caller gets. */
export interface Answer {
  text: string;
  /** With `json`; null is a value too. */
  data?: unknown;
  /** What is charged: the prompt as it was sent and the answer delivered; a repair is not charged. */
  tokens: number;
}

/** Asks the model. Methods throw ApiError upstream_failed, timeout. */
export interface Answers {
  complete(request: CompletionRequest): Promise<Completion>;
  stream(request: CompletionRequest): AsyncGenerator<string | Completion, void>;
  /**
   * Parses the answer; where it is not in the requested form, asks the model once to repair it.
   * @param tooShort thrown where it was cut off before its end, or before it had begun
   */
  finish(
    request: CompletionRequest,
    first: Completion,
    tooShort: (hasBegun: boolean) => ApiError,
  ): Promise<Answer>;
}

type ParsedAnswer = { data: unknown; text: string } | { problem: string };

/** What a thinking model says before its answer, where the provider leaves it in. */
const thoughts = /^\s*<think(?:ing)?>[\s\S]*?<\/think(?:ing)?>/i;
const fence = /```[ \t]*[\w-]*[ \t]*\r?\n([\s\S]*?)\r?\n?[ \t]*```/g;

const parseJson = (text: string): { data: unknown; text: string } | undefined => {
  try {
    return { data: JSON.parse(text), text };
  } catch {
    return undefined;
  }
};

/** The value that the answer is, or holds in its one code fence; with the text that is JSON. */
const findJson = (answer: string): { data: unknown; text: string } | undefined => {
  const bare = answer
    .replace(/^\uFEFF/, '')
    .replace(thoughts, '')
    .trim();
  const [fenced, another] = bare.matchAll(fence);
  const inside = another ? undefined : fenced?.[1];
  return (
    parseJson(answer) ?? parseJson(bare) ?? (inside === undefined ? undefined : parseJson(inside))
  );
};

/** The conversation with one more message that says what was wrong. */
const repairPrompt = <T extends Prompt>(prompt: T, { text }: Completion, problem: string): T => ({
  ...prompt,
  messages: [
    ...prompt.messages,
    { role: 'assistant', text },
    {
      role: 'user',
      text: `That is not what was asked for (${problem}). Answer with the corrected JSON alone.`,
    },
  ],
});

const toApiError = (cause: unknown, { signal }: CompletionRequest): unknown => {
  if (signal.aborted)
    return new ApiError('timeout', 'The model did not answer in time.', { cause });
  if (!(cause instanceof ModelProviderFailed)) return cause;
  return new ApiError('upstream_failed', 'The model could not answer.', { cause });
};

export const createAnswers = (provider: ModelProvider, schemas: JsonSchemas): Answers => {
  const read = async (
    answer: string,
    { format, requester }: CompletionRequest,
  ): Promise<ParsedAnswer> => {
    const found = findJson(answer);
    if (!found) return { problem: 'it is not JSON' };
    const { data, text } = found;
    if (isTooDeep(data)) return { problem: 'it is nested too deeply' };
    if (typeof format === 'object') {
      const problem = await schemas.mismatch(requester, format.schema, text);
      return problem === undefined ? found : { problem };
    }
    const isObject = typeof data === 'object' && data !== null && !Array.isArray(data);
    return isObject ? found : { problem: 'it is not a JSON object' };
  };

  const complete = async (request: CompletionRequest) => {
    try {
      return await provider.complete(request);
    } catch (error) {
      throw toApiError(error, request);
    }
  };

  return {
    complete,
    async *stream(request) {
      try {
        yield* provider.stream(request);
      } catch (error) {
        throw toApiError(error, request);
      }
    },
    async finish(request, first, tooShort) {
      const { format } = request;
      const tokens = first.promptTokens + first.outputTokens;
      // A model that thinks may use up all it may write before its answer begins.
      if (first.isCut && first.text.trim() === '') throw tooShort(false);
      if (format === 'text') return { text: first.text, tokens };
      const parsed = await read(first.text, request);
      if ('data' in parsed) return { ...parsed, tokens };
      if (first.isCut) throw tooShort(true);
      const second = await complete(repairPrompt(request, first, parsed.problem));
      const repaired = await read(second.text, request);
      if ('data' in repaired) {
        return { ...repaired, tokens: first.promptTokens + second.outputTokens };
      }
      throw new ApiError('upstream_failed', 'The model did not answer in the form of "json".', {
        cause: new Error(repaired.problem),
      });
    },
  };
};
