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
   * @param tooShort thrown where it was cut off before its end
   */
  finish(request: CompletionRequest, first: Completion, tooShort: () => ApiError): Promise<Answer>;
}

type ParsedAnswer = { data: unknown } | { problem: string };

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
  const read = async (text: string, { format, flow }: CompletionRequest): Promise<ParsedAnswer> => {
    let data: unknown;
    try {
      data = JSON.parse(text);
    } catch {
      return { problem: 'it is not JSON' };
    }
    if (isTooDeep(data)) return { problem: 'it is nested too deeply' };
    if (typeof format === 'object') {
      const problem = await schemas.mismatch(flow, format.schema, text);
      return problem === undefined ? { data } : { problem };
    }
    const isObject = typeof data === 'object' && data !== null && !Array.isArray(data);
    return isObject ? { data } : { problem: 'it is not a JSON object' };
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
      if (format === 'text') return { text: first.text, tokens };
      const parsed = await read(first.text, request);
      if ('data' in parsed) return { text: first.text, ...parsed, tokens };
      if (first.isCut) throw tooShort();
      const second = await complete(repairPrompt(request, first, parsed.problem));
      const repaired = await read(second.text, request);
      if ('data' in repaired) {
        const { text, outputTokens } = second;
        return { text, ...repaired, tokens: first.promptTokens + outputTokens };
      }
      throw new ApiError('upstream_failed', 'The model did not answer in the form of "json".', {
        cause: new Error(repaired.problem),
      });
    },
  };
};
