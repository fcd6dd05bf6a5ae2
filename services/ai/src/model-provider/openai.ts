import { aiRoutes } from '@backlot/contract';
import {
  BrokenCircuitError,
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  handleType,
} from 'cockatiel';
import {
  type CompletionRequest,
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
  /** An endpoint that has not begun to answer by then is left for the next one; the last has no limit. */
  patienceMs: number;
  /** How long an endpoint is left alone after five failures in a row. Default 10,000. */
  breakMs?: number;
  /** Told of each endpoint that another one has to stand in for. */
  onFallOver?: (error: unknown) => void;
}

const failuresInARow = 5;

/** Ends what has not begun to answer within the time. */
const within = async <T>(
  signal: AbortSignal,
  limitMs: number | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  if (limitMs === undefined) return work(signal);
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), limitMs);
  try {
    return await work(AbortSignal.any([signal, late.signal]));
  } catch (error) {
    if (!late.signal.aborted || signal.aborted) throw error;
    throw new EndpointDown(`no answer within ${limitMs} ms`);
  } finally {
    clearTimeout(timer);
  }
};

type Guarded = Endpoint & { guard<T>(work: () => Promise<T>): Promise<T> };

/** A broken circuit lets one call through at a time to try it; the others do not wait for that. */
const guarded = (config: EndpointConfig, breakMs: number): Guarded => {
  const endpoint = createEndpoint(config);
  const breaker = circuitBreaker(handleType(EndpointDown), {
    breaker: new ConsecutiveBreaker(failuresInARow),
    halfOpenAfter: breakMs,
  });
  return {
    ...endpoint,
    async guard(work) {
      const isTried = breaker.state === CircuitState.HalfOpen;
      try {
        if (isTried) throw new BrokenCircuitError();
        return await breaker.execute(work);
      } catch (error) {
        if (!(error instanceof BrokenCircuitError)) throw error;
        throw new ModelProviderFailed(`${endpoint.host} is left alone after failures.`);
      }
    },
  };
};

/** The first piece has come, so that no other endpoint can stand in any more. */
const begun = async <T>(pieces: AsyncGenerator<T, void>) => ({
  first: await pieces.next(),
  rest: pieces,
});

/**
 * Any servers that speak OpenAI's chat completions. Falls over to the next one until the first piece
 * of an answer has come. A project's own key, and the model that its owner chose, are for the first.
 */
export const createOpenaiProvider = (options: OpenaiOptions): ModelProvider => {
  const { patienceMs, breakMs = 10_000, onFallOver } = options;
  const endpoints = options.endpoints.map((each) => guarded(each, breakMs));
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
          within(request.signal, isLast ? undefined : patienceMs, (signal) =>
            ask(endpoint, { ...request, choice, signal }),
          ),
        );
      } catch (error) {
        if (request.signal.aborted) throw error;
        failure = error;
        if (!isLast) onFallOver?.(error);
      }
    }
    throw failure;
  };

  return {
    takesChoices: true,
    promptTokensAtMost({ messages, format }) {
      const schema = typeof format === 'string' ? '' : JSON.stringify(format.schema);
      return messages.reduce(
        (sum, { text }) => sum + aiRoutes.messageOverheadTokens + aiRoutes.tokensAtMost(text),
        aiRoutes.answerOverheadTokens + aiRoutes.tokensAtMost(schema),
      );
    },
    complete: (request) => answer(request, (endpoint, each) => endpoint.complete(each)),
    async *stream(request) {
      const { first, rest } = await answer(request, (endpoint, each) =>
        begun(endpoint.stream(each)),
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
