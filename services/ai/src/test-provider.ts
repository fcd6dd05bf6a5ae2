import type {
  Completion,
  CompletionRequest,
  ModelProvider,
} from './model-provider/model-provider.ts';

/** Ends with the signal, and with nothing else. */
export const silence = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    if (signal.aborted) reject(new Error('aborted'));
    signal.addEventListener('abort', () => reject(new Error('aborted')));
  });

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
