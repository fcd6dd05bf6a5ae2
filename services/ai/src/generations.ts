import { ApiError } from '@backlot/contract';
import type { Answers } from './answers.ts';
import {
  type Completion,
  type CompletionRequest,
  estimatePromptTokens,
  estimateTokens,
} from './model-provider/model-provider.ts';
import { type Asking, callerGone, type Open, type Opened, schemaRefused } from './opening.ts';

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

const tooShort = ({ spending, request }: Opened) =>
  spending.heldBy?.() ??
  new ApiError(
    'invalid_body',
    `"maxTokens": ${request.maxOutputTokens} do not hold an answer in this form.`,
    { hint: 'Raise maxTokens, or ask for less in the schema.' },
  );

/** Nobody has counted the tokens of an answer that was broken off. */
const tokensSoFar = (request: CompletionRequest, delivered: string) =>
  estimatePromptTokens(request) + (delivered === '' ? 0 : estimateTokens(delivered));

/**
 * What fails on our side or the provider's, the deadline included, is free although its beginning was
 * delivered (contract section 2: 502 and 504 are never charged).
 */
const isFree = (failure: unknown) => !(failure instanceof ApiError) || failure.status >= 500;

/**
 * What a stream that ended before its time leaves behind: nothing where its answer can still be a
 * failure, else what was used so far.
 */
const settleBrokenOff = async (
  { request, spending }: Opened,
  { failure, delivered }: { failure: unknown; delivered: string },
) => {
  if (failure === undefined) return spending.book(tokensSoFar(request, delivered));
  if (delivered === '') return spending.refund();
  return spending.book(isFree(failure) ? 0 : tokensSoFar(request, delivered));
};

export const createGenerations = (open: Open, answers: Answers): Generations => {
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
      if (asking.signal.aborted) {
        await spending.book(tokensSoFar(request, ''));
        throw callerGone(error);
      }
      await spending.refund();
      throw schemaRefused(error);
    }
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
        if (piece === '') continue;
        delivered += piece;
        yield { event: 'delta', data: { text: piece } };
      }
      if (!first) throw new ApiError('upstream_failed', 'The model could not answer.');
      const { tokens, ...data } = await answers.finish(request, first, () => tooShort(opened));
      await spending.book(tokens);
      isBooked = true;
      yield { event: 'done', data };
    } catch (error) {
      if (asking.signal.aborted) throw callerGone(error);
      failure = schemaRefused(error);
      throw failure;
    } finally {
      if (!isBooked) await settleBrokenOff(opened, { failure, delivered });
    }
  }

  return { generate, stream };
};
