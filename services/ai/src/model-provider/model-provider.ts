import { aiRoutes, type ChatMessage } from '@backlot/contract';
import type { Requester } from '@backlot/fair-shares';
import { type JsonSchema, schemaText } from '../json-schema/json-schemas.ts';

export interface Prompt {
  messages: readonly ChatMessage[];
  /** `json` asks for any JSON object. */
  format: 'text' | 'json' | { schema: JsonSchema };
  /** JPEG in base64, by the id of the file: those that parts of messages name. */
  images?: ReadonlyMap<string, string>;
}

/** A project's own account with the provider, and the model that its owner has chosen. */
export interface ModelChoice {
  apiKey?: string;
  model?: string;
}

export interface CompletionRequest extends Prompt {
  /** At least 1; the text is cut there. */
  maxOutputTokens: number;
  choice: ModelChoice;
  /** Whose share work on schemas counts against. */
  requester: Requester;
  /** Ends the work; it then fails, with whatever. */
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

/** A project's key opens nothing at the provider, or the provider takes none of projects. */
export class ModelKeyRefused extends Error {
  override readonly name = 'ModelKeyRefused';
}

export interface ModelProvider {
  /** Whether it works with keys of projects, and with models that owners choose. */
  takesChoices: boolean;
  /** Never less than what `complete` and `stream` will count for the same prompt. */
  promptTokensAtMost(prompt: Prompt): number;
  /** @throws ModelProviderFailed; SchemaRefused where the provider can't serve this schema */
  complete(request: CompletionRequest): Promise<Completion>;
  /**
   * Gives pieces of the text as they come and, last, the whole; the provider is read no faster than its
   * reader reads. Throws what `complete` does, at any point. Ended early, it ends the work.
   */
  stream(request: CompletionRequest): AsyncGenerator<string | Completion, void>;
  /** @throws ModelKeyRefused, ModelProviderFailed */
  checkKey(apiKey: string, signal: AbortSignal): Promise<void>;
}

/** English text has about four bytes a token in common tokenizers. */
export const bytesPerToken = 4;

/** Cut between characters. */
export const cut = (text: string, maxBytes: number): string =>
  new TextDecoder().decode(Buffer.from(text).subarray(0, maxBytes), { stream: true });

/** For what nobody has counted. */
export const estimateTokens = (text: string): number =>
  Math.max(1, Math.ceil(Buffer.byteLength(text) / bytesPerToken));

const countImages = ({ parts = [] }: ChatMessage): number =>
  parts.filter(({ type }) => type === 'image').length;

/** What the images of a prompt count, those that come twice too. */
export const imageTokens = (messages: readonly ChatMessage[]): number =>
  messages.reduce((sum, message) => sum + countImages(message), 0) * aiRoutes.imageTokens;

/** Of the texts, the images and the schema alone. */
export const estimatePromptTokens = ({ messages, format }: Prompt): number =>
  imageTokens(messages) +
  estimateTokens(
    messages.map(({ text }) => text).join('') +
      (typeof format === 'string' ? '' : schemaText(format.schema)),
  );
