import type { ServerWatch } from '@backlot/service';
import {
  type CompletionRequest,
  type ModelProvider,
  ModelProviderFailed,
} from './model-provider.ts';

/** The provider, whose answers to calls on the platform's own account tell whether it is there. */
export const watchProvider = (provider: ModelProvider, watch: ServerWatch): ModelProvider => {
  const note = ({ choice, signal }: CompletionRequest, error?: unknown) => {
    if (choice.apiKey !== undefined || signal.aborted) return;
    if (error === undefined) watch.succeeded();
    else if (error instanceof ModelProviderFailed) watch.failed();
  };
  return {
    get takesChoices() {
      return provider.takesChoices;
    },
    promptTokensAtMost: (prompt) => provider.promptTokensAtMost(prompt),
    checkKey: (apiKey, signal) => provider.checkKey(apiKey, signal),
    async complete(request) {
      try {
        const completion = await provider.complete(request);
        note(request);
        return completion;
      } catch (error) {
        note(request, error);
        throw error;
      }
    },
    async *stream(request) {
      try {
        yield* provider.stream(request);
        note(request);
      } catch (error) {
        note(request, error);
        throw error;
      }
    },
  };
};
