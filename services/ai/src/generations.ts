import { ApiError, aiRoutes, type BodyOf } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import type { AiConfig } from './config.ts';
import { isTooDeep, type JsonSchemas, SchemaRefused } from './json-schema/json-schemas.ts';
import {
  type Completion,
  type ModelProvider,
  ModelProviderFailed,
  type Prompt,
} from './model-provider/model-provider.ts';
import { payerOf, type Usage } from './usage.ts';

type Body = BodyOf<typeof aiRoutes.generateText>;

export interface Generation {
  text: string;
  /** With `json`; null is a value too. */
  data?: unknown;
  usedMillicredits: number | undefined;
}

export interface Generations {
  generate(identity: Identity, body: Body): Promise<Generation>;
}

export interface GenerationsDeps {
  provider: ModelProvider;
  schemas: JsonSchemas;
  usage: Usage;
  config: AiConfig;
}

type Structured = { data: unknown } | { problem: string };

const invalidJsonField = (why: string, cause?: unknown) =>
  new ApiError('invalid_body', `"json": ${why}.`, { cause });

const formatOf = (json: Body['json']): Prompt['format'] => {
  if (json === undefined || json === false) return 'text';
  return json === true ? 'json' : { schema: json };
};

/** What the call may put out: its own cap, held to what was reserved for it. */
const outputTokensFor = (
  identity: Identity,
  body: Body,
  promptTokens: number,
): { maxOutputTokens: number; isHeldToCredits: boolean } => {
  const wanted = body.maxTokens ?? aiRoutes.maxOutputTokens;
  const payer = payerOf(identity);
  // A token is a milli-credit.
  const affordable = payer ? payer.millicredits - promptTokens : wanted;
  if (affordable < 1) throw outOfCredits();
  return {
    maxOutputTokens: Math.min(wanted, affordable),
    isHeldToCredits: affordable < wanted,
  };
};

const outOfCredits = () =>
  new ApiError('out_of_credits', 'The credits left do not cover this prompt and its answer.');

const tooShort = (tokens: number) =>
  new ApiError('invalid_body', `"maxTokens": ${tokens} do not hold an answer in this form.`, {
    hint: 'Raise maxTokens, or ask for less in the schema.',
  });

/** One more turn that shows the model what was wrong. */
const repairOf = (prompt: Prompt, { text }: Completion, problem: string): Prompt => ({
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

export const createGenerations = ({
  provider,
  schemas,
  usage,
  config,
}: GenerationsDeps): Generations => {
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

  const complete = async (prompt: Prompt, maxOutputTokens: number, signal: AbortSignal) => {
    try {
      return await provider.complete({ ...prompt, maxOutputTokens, signal });
    } catch (cause) {
      if (signal.aborted) {
        throw new ApiError('timeout', 'The model did not answer in time.', { cause });
      }
      if (!(cause instanceof ModelProviderFailed)) throw cause;
      throw new ApiError('upstream_failed', 'The model could not answer.', { cause });
    }
  };

  const answer = async (identity: Identity, body: Body): Promise<Generation> => {
    const prompt: Prompt = { messages: aiRoutes.conversationOf(body), format: formatOf(body.json) };
    const { format } = prompt;
    const { maxOutputTokens, isHeldToCredits } = outputTokensFor(
      identity,
      body,
      provider.promptTokensAtMost(prompt),
    );
    if (typeof format === 'object') await schemas.check(format.schema);
    const signal = AbortSignal.timeout(config.answerTimeoutMs);
    const first = await complete(prompt, maxOutputTokens, signal);
    // A repair is on the house: what counts is the prompt as it was sent and the answer delivered.
    const finish = async ({ text, outputTokens }: Completion, structured: { data?: unknown }) => ({
      text,
      ...structured,
      usedMillicredits: await usage.record(identity, first.promptTokens + outputTokens),
    });
    if (format === 'text') return finish(first, {});

    const structured = await read(first.text, format);
    if ('data' in structured) return finish(first, structured);
    if (first.isCut) throw isHeldToCredits ? outOfCredits() : tooShort(maxOutputTokens);
    const repair = repairOf(prompt, first, structured.problem);
    const second = await complete(repair, maxOutputTokens, signal);
    const repaired = await read(second.text, format);
    if ('data' in repaired) return finish(second, repaired);
    throw new ApiError('upstream_failed', 'The model did not answer in the form of "json".', {
      cause: new Error(repaired.problem),
    });
  };

  return {
    generate: (identity, body) =>
      answer(identity, body).catch((error: unknown) => {
        throw error instanceof SchemaRefused ? invalidJsonField(error.message, error) : error;
      }),
  };
};
