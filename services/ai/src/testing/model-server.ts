import type { IncomingMessage, ServerResponse } from 'node:http';
import { type ChatCompletionRequest, LLMock } from '@copilotkit/aimock';
import { cut, estimateTokens } from '../model-provider/model-provider.ts';

export type ChatAnswer = Parameters<LLMock['on']>[1];
type Options = Parameters<LLMock['on']>[2];

/** A small model: repeats the question in the requested form, up to its cap. */
const echo = ({ messages, response_format, ...request }: ChatCompletionRequest) => {
  const question = String(messages.at(-1)?.content ?? '');
  const cap = Number(request.max_completion_tokens ?? request.max_tokens ?? 4096);
  const whole =
    response_format === undefined
      ? `You said: ${question}. That is all there is to be said about it.`
      : JSON.stringify({ name: 'Ada', age: 36 });
  const content = cut(whole, cap * 4);
  return {
    content,
    finishReason: content === whole ? 'stop' : 'length',
    usage: {
      prompt_tokens: estimateTokens(JSON.stringify(messages)) - 1,
      completion_tokens: estimateTokens(content),
    },
  };
};

export interface ModelServer {
  baseUrl: string;
  mock: LLMock;
  /** The chats that it was sent, as they came. */
  chats(): ChatCompletionRequest[];
  /** What it answers from now on; the echo without it. */
  answers(answer?: ChatAnswer, options?: Options): void;
  /** Base address of a server that answers each request in its own way. */
  mounted(name: string, answer: (res: ServerResponse, req: IncomingMessage) => void): string;
  stop(): Promise<void>;
}

/** A server that speaks OpenAI's chat completions. */
export const startModelServer = async (): Promise<ModelServer> => {
  const mock = new LLMock({ port: 0, host: '127.0.0.1' });
  mock.on({}, echo);
  await mock.start();
  return {
    baseUrl: `${mock.url}/v1`,
    mock,
    chats: () =>
      mock
        .getRequests()
        .filter(({ path }) => path.endsWith('/chat/completions'))
        .map(({ body }) => body as ChatCompletionRequest),
    answers(answer = echo, options = {}) {
      mock.clearFixtures();
      mock.clearRequests();
      mock.on({}, answer, options);
    },
    mounted(name, answer) {
      mock.mount(`/${name}`, {
        async handleRequest(req, res) {
          answer(res, req);
          return true;
        },
      });
      return `${mock.url}/${name}/v1`;
    },
    stop: () => mock.stop(),
  };
};
