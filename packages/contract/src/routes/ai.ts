import { z } from 'zod';
import { callers, creditMillicredits, defineRoute } from '../define-route.ts';
import { text } from '../schemas.ts';

/** Contract section 5. */
export const maxOutputTokens = 4096;
const maxMessages = 100;
const maxCharacters = 200_000;

const anyText = text(0, maxCharacters);
const textPart = z.object({ type: z.literal('text'), text: anyText });
const message = z.object({
  role: z.enum(['system', 'user', 'assistant']),
  content: z.union([anyText, z.array(textPart).min(1).max(maxMessages)]),
});

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant';
  text: string;
}

type Content = z.infer<typeof message>['content'];
const textOf = (content: Content): string =>
  typeof content === 'string' ? content : content.map((part) => part.text).join('');

const body = z
  .object({
    messages: z.array(message).min(1).max(maxMessages),
    system: anyText.optional().describe('Put before all messages'),
    json: z
      .union([z.boolean(), z.record(z.string(), z.unknown())])
      .optional()
      .describe('true: any JSON object; a JSON Schema: a value that satisfies it'),
    maxTokens: z.int().min(1).max(maxOutputTokens).optional().describe('Longest answer, in tokens'),
    stream: z.literal(false, 'answers come in one piece; leave it out').optional(),
  })
  .refine(({ messages }) => messages.at(-1)?.role === 'user', {
    path: ['messages'],
    message: 'the last one must come from "user"',
  })
  .refine(
    ({ messages, system = '' }) =>
      messages.reduce((sum, { content }) => sum + textOf(content).length, system.length) <=
      maxCharacters,
    { path: ['messages'], message: `may have at most ${maxCharacters} characters in all` },
  );

/** The conversation in order, `system` first, parts joined. */
export const conversationOf = ({ messages, system }: z.infer<typeof body>): ChatMessage[] => [
  ...(system === undefined ? [] : [{ role: 'system' as const, text: system }]),
  ...messages.map(({ role, content }) => ({ role, text: textOf(content) })),
];

/** Contract section 9: a credit for 1,000 tokens, at least one. */
export const generationMillicredits = (tokens: number): number =>
  Math.max(creditMillicredits, Math.ceil(tokens));

/** Tokenizers work on bytes, so that a text never has more tokens than it has bytes in UTF-8. */
const utf8 = new TextEncoder();
const tokensAtMost = (value: unknown): number =>
  typeof value === 'string' ? utf8.encode(value).length : 0;
/** What marks the start, role and end of one message in a chat template, and the answer's start. */
const messageOverheadTokens = 8;
const answerOverheadTokens = 64;

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

const schemaTokensAtMost = (json: unknown): number => {
  if (typeof json !== 'object' || json === null) return 0;
  try {
    return tokensAtMost(JSON.stringify(json));
  } catch {
    // Nested so deeply that it can't be written: the service refuses it.
    return 0;
  }
};

/** An upper bound of the prompt's tokens for any model; of a body that nobody has validated. */
export const promptTokensAtMost = (unchecked: unknown): number => {
  const { messages, system, json } = fieldsOf(unchecked);
  let tokens = answerOverheadTokens + tokensAtMost(system) + schemaTokensAtMost(json);
  for (const each of listOf(messages)) {
    const { content } = fieldsOf(each);
    tokens += messageOverheadTokens + tokensAtMost(content);
    for (const part of listOf(content)) tokens += tokensAtMost(fieldsOf(part).text);
  }
  return tokens;
};

const outputTokensAtMost = (unchecked: unknown): number => {
  const { maxTokens } = fieldsOf(unchecked);
  const isCap =
    Number.isInteger(maxTokens) && Number(maxTokens) >= 1 && Number(maxTokens) <= maxOutputTokens;
  return isCap ? Number(maxTokens) : maxOutputTokens;
};

export const generateText = defineRoute({
  service: 'ai',
  plane: 'runtime',
  operationId: 'generateText',
  method: 'POST',
  path: '/ai',
  summary: 'Continue a conversation, as text or as JSON',
  callers,
  limit: 'ai',
  body,
  response: z.object({
    text: z.string(),
    data: z.unknown().optional().describe('With "json": the parsed value'),
  }),
  status: 200,
  errors: ['invalid_body', 'out_of_credits', 'overloaded', 'upstream_failed', 'timeout'],
  price: {
    needsBody: true,
    worstCaseMillicredits: ({ body }) =>
      generationMillicredits(promptTokensAtMost(body) + outputTokensAtMost(body)),
  },
});
