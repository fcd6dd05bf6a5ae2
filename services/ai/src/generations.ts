import { ApiError, aiRoutes, type BodyOf } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import type { Answers } from './answers.ts';
import type { AiConfig } from './config.ts';
import { type JsonSchemas, SchemaRefused } from './json-schema/json-schemas.ts';
import {
  type Completion,
  type CompletionRequest,
  estimatePromptTokens,
  estimateTokens,
  type ModelProvider,
  type Prompt,
} from './model-provider/model-provider.ts';
import type { ProjectKeys } from './project-keys.ts';
import type { Prompts } from './prompts.ts';
import type { Spending, Spendings } from './spending.ts';
import type { Usage } from './usage.ts';

export interface Asking {
  identity: Identity;
  body: BodyOf<typeof aiRoutes.generateText>;
  /** Aborted when the caller has gone. */
  signal: AbortSignal;
}

export interface Generation {
  text: string;
  /** With `json`; null is a value too. */
  data?: unknown;
  usedMillicredits: number | undefined;
  /** Stores the usage; belongs to the writes that go with the answer. */
  commit(): Promise<void>;
}

export type GenerationEvent =
  | { event: 'delta'; data: { text: string } }
  | { event: 'done'; data: { text: string; data?: unknown } };

/**
 * Methods throw ApiError invalid_body, out_of_credits, visitor_budget, overloaded, upstream_failed,
 * timeout. Whose caller goes is booked with what was used until then.
 */
export interface Generations {
  generate(asking: Asking): Promise<Generation>;
  /** Books what was used when it ends, fails after its first event, or is ended. */
  stream(asking: Asking): AsyncGenerator<GenerationEvent, void>;
}

export interface GenerationsDeps {
  provider: ModelProvider;
  answers: Answers;
  schemas: JsonSchemas;
  prompts: Prompts;
  projectKeys: ProjectKeys;
  spendings: Spendings;
  usage: Usage;
  config: AiConfig;
}

interface Opened {
  request: CompletionRequest;
  spending: Spending;
}

const formatOf = (json: Asking['body']['json']): Prompt['format'] => {
  if (json === undefined || json === false) return 'text';
  return json === true ? 'json' : { schema: json };
};

const tooShort = ({ spending, request }: Opened) =>
  spending.heldBy ??
  new ApiError(
    'invalid_body',
    `"maxTokens": ${request.maxOutputTokens} do not hold an answer in this form.`,
    { hint: 'Raise maxTokens, or ask for less in the schema.' },
  );

const schemaRefused = (error: unknown) =>
  error instanceof SchemaRefused
    ? new ApiError('invalid_body', `"json": ${error.message}.`, { cause: error })
    : error;

/** Nobody has counted the tokens of an answer that was broken off. */
const tokensSoFar = (request: CompletionRequest, delivered: string) =>
  estimatePromptTokens(request) + (delivered === '' ? 0 : estimateTokens(delivered));

export const createGenerations = (deps: GenerationsDeps): Generations => {
  const { provider, answers, schemas, prompts, projectKeys, spendings, usage, config } = deps;

  const promptOf = async ({ identity, body }: Asking): Promise<Prompt> => {
    const messages = aiRoutes.conversationOf(body);
    const format = formatOf(body.json);
    if (body.prompt === undefined) return { messages, format };
    const text = await prompts.textOf(identity.project.number, body.prompt);
    return { messages: [{ role: 'system', text }, ...messages], format };
  };

  /** Leaves nothing behind where it throws, but a caller who has gone is booked. */
  const open = async (asking: Asking): Promise<Opened> => {
    const { identity, body, signal } = asking;
    let spending: Spending | undefined;
    try {
      const prompt = await promptOf(asking);
      const choice = await projectKeys.choiceOf(identity);
      spending = await spendings.open(identity, {
        promptTokens: provider.promptTokensAtMost(prompt),
        outputTokens: body.maxTokens ?? aiRoutes.maxOutputTokens,
      });
      const { maxOutputTokens } = spending;
      if (typeof prompt.format === 'object') await schemas.check(prompt.format.schema);
      signal.throwIfAborted();
      const ends = AbortSignal.any([signal, AbortSignal.timeout(config.answerTimeoutMs)]);
      return { request: { ...prompt, maxOutputTokens, choice, signal: ends }, spending };
    } catch (error) {
      await spending?.refund();
      if (signal.aborted) await usage.record(identity, 0);
      throw schemaRefused(error);
    }
  };

  const generate = async (asking: Asking): Promise<Generation> => {
    const opened = await open(asking);
    const { request, spending } = opened;
    try {
      const first = await answers.complete(request);
      const { tokens, ...answer } = await answers.finish(request, first, () => tooShort(opened));
      return {
        ...answer,
        usedMillicredits: spending.priceOf(tokens),
        commit: () => spending.book(tokens),
      };
    } catch (error) {
      if (asking.signal.aborted) await spending.book(tokensSoFar(request, ''));
      else await spending.refund();
      throw schemaRefused(error);
    }
  };

  /**
   * What a stream that ended before its time leaves behind: nothing where its answer can still be a
   * failure, no charge where the provider failed, else what was used so far.
   */
  const settleBrokenOff = async (
    { request, spending }: Opened,
    { failure, delivered }: { failure: unknown; delivered: string },
  ) => {
    if (failure === undefined) return spending.book(tokensSoFar(request, delivered));
    if (delivered === '') return spending.refund();
    const isProviders = failure instanceof ApiError && failure.code === 'upstream_failed';
    return spending.book(isProviders ? 0 : tokensSoFar(request, delivered));
  };

  async function* stream(asking: Asking): AsyncGenerator<GenerationEvent, void> {
    const opened = await open(asking);
    const { request, spending } = opened;
    let delivered = '';
    let failure: unknown;
    let isBooked = false;
    try {
      let first: Completion | undefined;
      for await (const piece of answers.stream(request)) {
        if (typeof piece !== 'string') {
          first = piece;
          continue;
        }
        delivered += piece;
        yield { event: 'delta', data: { text: piece } };
      }
      if (!first) throw new ApiError('upstream_failed', 'The model could not answer.');
      const { tokens, ...data } = await answers.finish(request, first, () => tooShort(opened));
      await spending.book(tokens);
      isBooked = true;
      yield { event: 'done', data };
    } catch (error) {
      if (!asking.signal.aborted) failure = error;
      throw schemaRefused(error);
    } finally {
      if (!isBooked) await settleBrokenOff(opened, { failure, delivered });
    }
  }

  return { generate, stream };
};
