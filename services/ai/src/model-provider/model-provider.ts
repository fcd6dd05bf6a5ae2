import type { ChatMessage } from '@backlot/contract';
import type { JsonSchema } from '../json-schema/json-schemas.ts';

export interface Prompt {
  messages: readonly ChatMessage[];
  /** `json` asks for any JSON object. */
  format: 'text' | 'json' | { schema: JsonSchema };
}

export interface CompletionRequest extends Prompt {
  /** At least 1; the text is cut there. */
  maxOutputTokens: number;
  /** Ends the work; the promise then rejects, with whatever. */
  signal: AbortSignal;
}

export interface Completion {
  text: string;
  promptTokens: number;
  outputTokens: number;
  /** The text would have gone on past `maxOutputTokens`. */
  isCut: boolean;
}

/** The provider is out of reach, refuses, or answers nonsense. The cause is logged, never shown. */
export class ModelProviderFailed extends Error {
  override readonly name = 'ModelProviderFailed';
}

export interface ModelProvider {
  /** Never less than what `complete` will count for the same prompt. */
  promptTokensAtMost(prompt: Prompt): number;
  /** @throws ModelProviderFailed; SchemaRefused where the provider can't serve this schema */
  complete(request: CompletionRequest): Promise<Completion>;
}
