import type {
  Completion,
  CompletionRequest,
  ModelProvider,
} from '../model-provider/model-provider.ts';

/** Ends with the signal, and with nothing else. */
export const silence = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    if (signal.aborted) reject(new Error('aborted'));
    signal.addEventListener('abort', () => reject(new Error('aborted')));
  });

/** The events of a streamed answer. */
export const parseEvents = (body: string): { event: string; data: Record<string, unknown> }[] =>
  body
    .split('\n\n')
    .slice(0, -1)
    .map((text) => {
      const [, event = '', data = ''] = /^event: (\w+)\ndata: (.*)$/.exec(text) ?? [];
      return { event, data: JSON.parse(data) };
    });

/** A model that streams what a test says, piece by piece. */
export const streamingProvider = (
  stream: (request: CompletionRequest) => AsyncGenerator<string | Completion, void>,
): ModelProvider => ({ ...fakeProvider(({ signal }) => silence(signal)), stream });

/** A model that answers what a test says; a stream gives the answer in two pieces. */
export const fakeProvider = (
  complete: (request: CompletionRequest) => Promise<Completion>,
): ModelProvider => ({
  takesChoices: false,
  promptTokensAtMost: () => 10,
  complete,
  async *stream(request) {
    const completion = await complete(request);
    const middle = Math.ceil(completion.text.length / 2);
    yield completion.text.slice(0, middle);
    yield completion.text.slice(middle);
    yield completion;
  },
  checkKey: async () => {},
});
