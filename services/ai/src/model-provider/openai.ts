import { aiRoutes } from '@backlot/contract';
import { withTimeout } from '@backlot/http';
import {
  BrokenCircuitError,
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  handleType,
} from 'cockatiel';
import { schemaText } from '../json-schema/json-schemas.ts';
import {
  type CompletionRequest,
  imageTokens,
  type ModelProvider,
  ModelProviderFailed,
} from './model-provider.ts';
import {
  createEndpoint,
  type Endpoint,
  type EndpointConfig,
  EndpointDown,
} from './openai-endpoint.ts';

export interface OpenaiOptions {
  /** At least one, in order of preference. */
  endpoints: readonly EndpointConfig[];
  /** For the first piece of an answer, then the next endpoint is tried; the last one has no limit. */
  firstPieceTimeoutMs: number;
  /** How long an endpoint is skipped after five failures in a row. Default 10,000. */
  breakMs?: number;
  /** For each failure after which the next endpoint is tried. */
  onFailover?: (error: unknown) => void;
}

const failuresInARow = 5;

/** Aborts work that takes longer; after it the signal stays valid, for the rest of a stream. */
const askInTime = async <T>(
  signal: AbortSignal,
  limitMs: number | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  if (limitMs === undefined) return work(signal);
  const asked = (late: AbortSignal) => work(AbortSignal.any([signal, late]));
  const answer = await withTimeout(asked, limitMs);
  if (answer === undefined) throw new EndpointDown(`no answer within ${limitMs} ms`);
  return answer;
};

type GuardedEndpoint = Endpoint & { guard<T>(work: () => Promise<T>): Promise<T> };

/** An open circuit lets one call through at a time as a trial; the others fail at once. */
const guardEndpoint = (config: EndpointConfig, breakMs: number): GuardedEndpoint => {
  const endpoint = createEndpoint(config);
  const breaker = circuitBreaker(handleType(EndpointDown), {
    breaker: new ConsecutiveBreaker(failuresInARow),
    halfOpenAfter: breakMs,
  });
  return {
    ...endpoint,
    async guard(work) {
      const isTrialRunning = breaker.state === CircuitState.HalfOpen;
      try {
        if (isTrialRunning) throw new BrokenCircuitError();
        return await breaker.execute(work);
      } catch (error) {
        if (!(error instanceof BrokenCircuitError)) throw error;
        throw new ModelProviderFailed(`${endpoint.host} is skipped after repeated failures.`);
      }
    },
  };
};

/** Waits for the first piece: from then on no other endpoint can answer instead. */
const startStream = async <T>(pieces: AsyncGenerator<T, void>) => ({
  first: await pieces.next(),
  rest: pieces,
});

/**
 * Any servers with OpenAI's chat completions. Fails over to the next one until the first piece of an
 * answer has arrived. A project's own key, and the model that its owner chose, are for the first one.
 */
export const createOpenaiProvider = (options: OpenaiOptions): ModelProvider => {
  const { firstPieceTimeoutMs, breakMs = 10_000, onFailover } = options;
  const endpoints = options.endpoints.map((config) => guardEndpoint(config, breakMs));
  const [preferred] = endpoints;
  if (!preferred) throw new RangeError('There must be an endpoint.');

  const answer = async <T>(
    request: CompletionRequest,
    ask: (endpoint: Endpoint, request: CompletionRequest) => Promise<T>,
  ): Promise<T> => {
    // What goes wrong with a project's own account says nothing about the endpoint.
    if (request.choice.apiKey !== undefined) return ask(preferred, request);
    let failure: unknown;
    for (const [index, endpoint] of endpoints.entries()) {
      const isLast = index === endpoints.length - 1;
      const choice = index === 0 ? request.choice : {};
      try {
        return await endpoint.guard(() =>
          askInTime(request.signal, isLast ? undefined : firstPieceTimeoutMs, (signal) =>
            ask(endpoint, { ...request, choice, signal }),
          ),
        );
      } catch (error) {
        if (request.signal.aborted) throw error;
        failure = error;
        if (!isLast) onFailover?.(error);
      }
    }
    throw failure;
  };

  return {
    takesChoices: true,
    promptTokensAtMost({ messages, format }) {
      const schema = typeof format === 'string' ? '' : schemaText(format.schema);
      return messages.reduce(
        (sum, { text }) => sum + aiRoutes.messageOverheadTokens + aiRoutes.tokensAtMost(text),
        aiRoutes.answerOverheadTokens + aiRoutes.tokensAtMost(schema) + imageTokens(messages),
      );
    },
    complete: (request) => answer(request, (endpoint, attempt) => endpoint.complete(attempt)),
    async *stream(request) {
      const { first, rest } = await answer(request, (endpoint, attempt) =>
        startStream(endpoint.stream(attempt)),
      );
      try {
        if (first.done) return;
        yield first.value;
        yield* rest;
      } finally {
        await rest.return();
      }
    },
    checkKey: (apiKey, signal) => preferred.checkKey(apiKey, signal),
  };
};
