import OpenAI, { APIConnectionError, APIError } from 'openai';
import { createBoundedFetch } from './bounded-fetch.ts';
import {
  type Completion,
  type CompletionRequest,
  ModelKeyRefused,
  ModelProviderFailed,
} from './model-provider.ts';
import { type Piece, readAnswer, readPiece, toCompletion } from './openai-answer.ts';
import { chatRequest } from './openai-request.ts';

export interface EndpointConfig {
  /** Ends in the version, for example `https://api.openai.com/v1`. */
  baseUrl: string;
  /** Endpoints of one's own often take none. */
  apiKey?: string | undefined;
  model: string;
}

/** A failure that says something about the endpoint, not about this one request. */
export class EndpointDown extends ModelProviderFailed {}

/** One server with OpenAI's chat completions. Methods throw ModelProviderFailed. */
export interface Endpoint {
  host: string;
  complete(request: CompletionRequest): Promise<Completion>;
  stream(request: CompletionRequest): AsyncGenerator<string | Completion, void>;
  /** @throws ModelKeyRefused */
  checkKey(apiKey: string, signal: AbortSignal): Promise<void>;
}

const endpointStatuses = [408, 409, 429];
const isEndpointFault = (status: number | undefined) =>
  status === undefined || status >= 500 || endpointStatuses.includes(status);

/** Keeps the status and drops what the provider says, which may quote keys and prompts. */
const translate = (host: string, error: unknown, signal: AbortSignal): unknown => {
  if (signal.aborted || error instanceof ModelProviderFailed) return error;
  if (error instanceof APIConnectionError) {
    const { cause } = error;
    const inner = cause instanceof Error ? (cause.cause ?? cause) : cause;
    const code = inner instanceof Error && 'code' in inner ? String(inner.code) : 'no connection';
    return new EndpointDown(`${host}: ${code}`);
  }
  if (error instanceof APIError) {
    const Failure = isEndpointFault(error.status) ? EndpointDown : ModelProviderFailed;
    return new Failure(`${host} answered ${error.status ?? 'with an error'}.`);
  }
  return new EndpointDown(`${host} broke off its answer or sent none that can be read.`);
};

const createClient = ({ baseUrl, apiKey = 'none' }: EndpointConfig) =>
  new OpenAI({
    baseURL: baseUrl,
    apiKey,
    // Otherwise the SDK reads them from the environment.
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    logLevel: 'off',
    fetch: createBoundedFetch(),
  });

export const createEndpoint = (config: EndpointConfig): Endpoint => {
  const { host } = new URL(config.baseUrl);
  const operators = createClient(config);
  const clientFor = ({ apiKey }: CompletionRequest['choice']) =>
    apiKey === undefined ? operators : operators.withOptions({ apiKey });
  const chatBody = (request: CompletionRequest) =>
    chatRequest(request, { ...config, model: request.choice.model ?? config.model });

  return {
    host,
    async complete(request) {
      const { signal } = request;
      try {
        const { completions } = clientFor(request.choice).chat;
        const answer: unknown = await completions.create(chatBody(request), { signal });
        return toCompletion(request, readAnswer(answer));
      } catch (error) {
        throw translate(host, error, signal);
      }
    },
    async *stream(request) {
      const { signal } = request;
      const whole: Piece = { text: '', finish: undefined, usage: null };
      try {
        const { completions } = clientFor(request.choice).chat;
        const chunks: AsyncIterable<unknown> = await completions.create(
          { ...chatBody(request), stream: true, stream_options: { include_usage: true } },
          { signal },
        );
        for await (const chunk of chunks) {
          const piece = readPiece(chunk);
          whole.text += piece.text;
          whole.finish ??= piece.finish;
          whole.usage = piece.usage ?? whole.usage;
          if (piece.text !== '') yield piece.text;
        }
        signal.throwIfAborted();
        yield toCompletion(request, whole);
      } catch (error) {
        throw translate(host, error, signal);
      }
    },
    async checkKey(apiKey, signal) {
      try {
        await operators.withOptions({ apiKey }).models.list({ signal });
      } catch (error) {
        const isRefused = error instanceof APIError && [401, 403].includes(error.status ?? 0);
        throw isRefused
          ? new ModelKeyRefused('The provider refuses it.')
          : translate(host, error, signal);
      }
    },
  };
};
