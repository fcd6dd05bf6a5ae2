import { ApiError } from '@backlot/contract';
import {
  type Completion,
  type CompletionRequest,
  estimatePromptTokens,
  estimateTokens,
} from '../model-provider/model-provider.ts';
import type { Answers } from './answers.ts';
import {
  callerGone,
  type GenerationCall,
  type PreparedGeneration,
  type PrepareGeneration,
  toSchemaError,
} from './generation-preparer.ts';

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
 * timeout. Where the caller disconnects, what was used until then is charged.
 */
export interface Generations {
  generate(call: GenerationCall): Promise<Generation>;
  /** Records usage when it ends, fails after its first event, or is closed by its reader. */
  stream(call: GenerationCall): AsyncGenerator<GenerationEvent, void>;
}

const tooShort = ({ budget, request }: PreparedGeneration, hasBegun: boolean) => {
  const limit = budget.limitError?.();
  if (limit) return limit;
  const used = `"maxTokens": ${request.maxOutputTokens}`;
  return hasBegun
    ? new ApiError('invalid_body', `${used} do not hold an answer in this form.`, {
        hint: 'Raise maxTokens, or ask for less in the schema.',
      })
    : new ApiError('invalid_body', `${used} were used up before the answer began.`, {
        hint: 'Raise maxTokens: what a model thinks before it answers counts, too.',
      });
};

/** An interrupted answer comes without the provider's count. */
const estimateUsedTokens = (request: CompletionRequest, delivered: string) =>
  estimatePromptTokens(request) + (delivered === '' ? 0 : estimateTokens(delivered));

/** 5xx are never charged, although a part of the answer may have been delivered (docs/api.md, Limits and credits). */
const isNotCharged = (failure: unknown) => !(failure instanceof ApiError) || failure.status >= 500;

/** Where nothing was delivered, the answer is still an ordinary failure; else the usage so far counts. */
const settleInterrupted = async (
  { request, budget }: PreparedGeneration,
  { failure, delivered }: { failure: unknown; delivered: string },
) => {
  if (failure === undefined) return budget.record(estimateUsedTokens(request, delivered));
  if (delivered === '') return budget.release();
  return budget.record(isNotCharged(failure) ? 0 : estimateUsedTokens(request, delivered));
};

export const createGenerations = (prepare: PrepareGeneration, answers: Answers): Generations => {
  const generate = async (call: GenerationCall): Promise<Generation> => {
    const prepared = await prepare(call);
    const { request, budget } = prepared;
    try {
      const first = await answers.complete(request);
      const { tokens, ...answer } = await answers.finish(request, first, (hasBegun) =>
        tooShort(prepared, hasBegun),
      );
      return {
        ...answer,
        usedMillicredits: budget.cost(tokens),
        commit: () => budget.record(tokens),
      };
    } catch (error) {
      if (call.signal.aborted) {
        await budget.record(estimateUsedTokens(request, ''));
        throw callerGone(error);
      }
      await budget.release();
      throw toSchemaError(error);
    } finally {
      prepared.free();
    }
  };

  async function* stream(call: GenerationCall): AsyncGenerator<GenerationEvent, void> {
    const prepared = await prepare(call);
    const { request, budget } = prepared;
    let delivered = '';
    let failure: unknown;
    let isRecorded = false;
    try {
      let first: Completion | undefined;
      for await (const piece of answers.stream(request)) {
        if (typeof piece !== 'string') {
          first = piece;
          continue;
        }
        if (piece === '') continue;
        delivered += piece;
        yield { event: 'delta', data: { text: piece } };
      }
      if (!first) throw new ApiError('upstream_failed', 'The model could not answer.');
      const { tokens, ...data } = await answers.finish(request, first, (hasBegun) =>
        tooShort(prepared, hasBegun),
      );
      await budget.record(tokens);
      isRecorded = true;
      yield { event: 'done', data };
    } catch (error) {
      if (call.signal.aborted) throw callerGone(error);
      failure = toSchemaError(error);
      throw failure;
    } finally {
      prepared.free();
      if (!isRecorded) await settleInterrupted(prepared, { failure, delivered });
    }
  }

  return { generate, stream };
};
