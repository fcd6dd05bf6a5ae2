import { z } from 'zod';
import {
  type Completion,
  type CompletionRequest,
  estimatePromptTokens,
  estimateTokens,
  ModelProviderFailed,
} from './model-provider.ts';

const count = z.int().min(0);
/** Compatible endpoints leave it out, or parts of it; then it is estimated. */
const usage = z.object({ prompt_tokens: count, completion_tokens: count }).nullish().catch(null);
/** Compatible endpoints answer in parts as well; those of a thinking model hold its thoughts, too. */
const textPart = z.looseObject({
  type: z.enum(['text', 'output_text']).optional(),
  text: z.string(),
});
const content = z.union([
  z.string(),
  z
    .array(z.union([textPart, z.looseObject({})]))
    .transform((parts) => parts.map((part) => textPart.safeParse(part).data?.text ?? '').join('')),
]);
const spoken = z.object({ content: content.nullish(), refusal: z.string().nullish() });
/** Some say '' where OpenAI says null. */
const finish = z.string().nullish();

const answer = z.object({
  choices: z.array(z.object({ message: spoken, finish_reason: finish })).min(1),
  usage,
});
const chunk = z.object({
  // The last piece may hold the usage alone.
  choices: z.array(z.object({ delta: spoken.nullish(), finish_reason: finish })).nullish(),
  usage,
});

type Usage = z.infer<typeof usage>;

export interface Piece {
  text: string;
  finish: string | undefined;
  usage: Usage;
}

const parse = <T extends z.ZodType>(schema: T, value: unknown): z.output<T> => {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new ModelProviderFailed('The provider answered in a form that is not that of a chat.');
};

/** A refusal is an answer too. */
const readText = (message: z.infer<typeof spoken> | null | undefined) =>
  message?.content || message?.refusal || '';

/** One event of a streamed answer. @throws ModelProviderFailed where it is none */
export const readPiece = (value: unknown): Piece => {
  const { choices, usage } = parse(chunk, value);
  const [choice] = choices ?? [];
  return { text: readText(choice?.delta), finish: choice?.finish_reason || undefined, usage };
};

/** A whole answer. @throws ModelProviderFailed where it is none */
export const readAnswer = (value: unknown): Piece => {
  const { choices, usage } = parse(answer, value);
  const [choice] = choices;
  return { text: readText(choice?.message), finish: choice?.finish_reason || undefined, usage };
};

/** @throws ModelProviderFailed where the answer broke off, or is held back by the provider's filter */
export const toCompletion = (request: CompletionRequest, whole: Piece): Completion => {
  const { text, finish, usage } = whole;
  if (finish === undefined) throw new ModelProviderFailed('The answer broke off.');
  if (finish === 'content_filter') throw new ModelProviderFailed('The answer was filtered.');
  if (text === '' && /^(tool_calls|function_call)$/.test(finish))
    throw new ModelProviderFailed('The answer calls a tool that nobody offered.');
  return {
    text,
    promptTokens: usage?.prompt_tokens ?? estimatePromptTokens(request),
    outputTokens:
      usage?.completion_tokens ?? Math.min(estimateTokens(text), request.maxOutputTokens),
    isCut: /^(length|max_?(output_?)?tokens)$/i.test(finish),
  };
};
