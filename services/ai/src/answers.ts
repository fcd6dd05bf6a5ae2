import { ApiError } from '@backlot/contract';
import { isTooDeep, type JsonSchemas } from './json-schema/json-schemas.ts';
import {
  type Completion,
  type CompletionRequest,
  type ModelProvider,
  ModelProviderFailed,
  type Prompt,
} from './model-provider/model-provider.ts';

/** What a caller gets. */
export interface Answer {
  text: string;
  /** With `json`; null is a value too. */
  data?: unknown;
  /** What is charged: the prompt as it was sent and the answer delivered; a repair is on the house. */
  tokens: number;
}

/** Asks the model. Methods throw ApiError upstream_failed, timeout. */
export interface Answers {
  complete(request: CompletionRequest): Promise<Completion>;
  stream(request: CompletionRequest): AsyncGenerator<string | Completion, void>;
  /**
   * Reads an answer in the form that was asked for, after one repair where it is not in it.
   * @param tooShort thrown where it was cut before it could be
   */
  finish(request: CompletionRequest, first: Completion, tooShort: () => ApiError): Promise<Answer>;
}

type Structured = { data: unknown } | { problem: string };

/** One more turn that shows the model what was wrong. */
const repairOf = <T extends Prompt>(prompt: T, { text }: Completion, problem: string): T => ({
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

const translate = (cause: unknown, { signal }: CompletionRequest): unknown => {
  if (signal.aborted)
    return new ApiError('timeout', 'The model did not answer in time.', { cause });
  if (!(cause instanceof ModelProviderFailed)) return cause;
  return new ApiError('upstream_failed', 'The model could not answer.', { cause });
};

export const createAnswers = (provider: ModelProvider, schemas: JsonSchemas): Answers => {
  const read = async (text: string, format: Prompt['format']): Promise<Structured> => {
    let data: unknown;
    try {
      data = JSON.parse(text);
    } catch {
      return { problem: 'it is not JSON' };
    }
    if (isTooDeep(data)) return { problem: 'it is nested too deeply' };
    if (typeof format === 'object') {
      const problem = await schemas.mismatch(format.schema, text);
      return problem === undefined ? { data } : { problem };
    }
    const isObject = typeof data === 'object' && data !== null && !Array.isArray(data);
    return isObject ? { data } : { problem: 'it is not a JSON object' };
  };

  const complete = async (request: CompletionRequest) => {
    try {
      return await provider.complete(request);
    } catch (error) {
      throw translate(error, request);
    }
  };

  return {
    complete,
    async *stream(request) {
      try {
        yield* provider.stream(request);
      } catch (error) {
        throw translate(error, request);
      }
    },
    async finish(request, first, tooShort) {
      const { format } = request;
      const tokens = first.promptTokens + first.outputTokens;
      if (format === 'text') return { text: first.text, tokens };
      const structured = await read(first.text, format);
      if ('data' in structured) return { text: first.text, ...structured, tokens };
      if (first.isCut) throw tooShort();
      const second = await complete(repairOf(request, first, structured.problem));
      const repaired = await read(second.text, format);
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
