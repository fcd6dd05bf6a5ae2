import { z } from 'zod';
import { callers, defineRoute, forgiving } from '../../define-route.ts';
import {
  generationPrice,
  maxOutputTokens,
  outputTokensAtMost,
  promptTokensAtMost,
} from './ai-price.ts';
import {
  anyText,
  type ChatMessage,
  countImages,
  maxCharacters,
  maxMessages,
  message,
  plainText,
  toChatMessage,
} from './chat-message.ts';
import { promptPattern } from './prompts.ts';

export const maxImages = 4;

const messages = z
  .array(message, {
    error: ({ input }) =>
      `${input === undefined ? 'is missing: send' : 'must be'} a list such as [{"role": "user", "content": "Hello"}]`,
  })
  .min(1)
  .max(maxMessages);

const body = z
  .object({
    messages,
    system: anyText.optional().describe('Put before all messages'),
    json: z
      .union([z.boolean(), z.record(z.string(), z.unknown())])
      .optional()
      .describe(
        'true: any JSON object; a JSON Schema: a value that satisfies it ({}: any JSON); else an example or a sketch of the answer, such as {"title": "string", "pages": "integer?", "tags": ["string"]}',
      ),
    maxTokens: z.int().min(1).max(maxOutputTokens).optional().describe('Longest answer, in tokens'),
    stream: z
      .boolean()
      .optional()
      .describe(
        'true: server-sent events delta {text}, then done {text, data?} or error; without an Idempotency-Key',
      ),
    prompt: z
      .string()
      .regex(promptPattern, 'must be the name of a prompt of the owner; texts go into "messages"')
      .optional()
      .describe('A prompt of the owner, put before all messages; then no other system text'),
  })
  .refine(({ prompt, system }) => prompt === undefined || system === undefined, {
    path: ['system'],
    message: 'can not be given beside "prompt"',
  })
  .refine(
    ({ prompt, messages }) =>
      prompt === undefined || messages.every(({ role }) => role !== 'system'),
    { path: ['messages'], message: 'can not hold any of role "system" beside "prompt"' },
  )
  .refine(({ messages }) => messages.at(-1)?.role === 'user', {
    path: ['messages'],
    message: 'the last one must come from "user"',
  })
  .refine(
    ({ messages }) =>
      messages.every((message) => message.role === 'user' || countImages(message) === 0),
    { path: ['messages'], message: 'can hold images of role "user" alone' },
  )
  .refine(
    ({ messages }) => messages.reduce((sum, message) => sum + countImages(message), 0) <= maxImages,
    { path: ['messages'], message: `may have at most ${maxImages} images in all` },
  )
  .refine(
    ({ messages, system = '' }) =>
      messages.reduce((sum, { content }) => sum + plainText(content).length, system.length) <=
      maxCharacters,
    { path: ['messages'], message: `may have at most ${maxCharacters} characters in all` },
  );

/** The conversation in order, `system` first, parts joined. */
export const toConversation = ({ messages, system }: z.infer<typeof body>): ChatMessage[] => [
  ...(system === undefined ? [] : [{ role: 'system' as const, text: system }]),
  ...messages.map(toChatMessage),
];

const noTools =
  'The model calls no tools. Ask for the choice in "json", act on it, and send the outcome in "messages".';

const jsonInstead = 'For an answer of a form send "json": true, a JSON Schema or an example.';

const imagesInParts =
  'An image stands in the content of a message: {"type": "image", "fileId": "<id>"}, with the id of an uploaded file.';

const nothingRemembered = 'Nothing is remembered: send the whole conversation in "messages".';

const oneAnswer = 'A call has one answer; make several calls for more.';

export const generateText = defineRoute({
  service: 'ai',
  plane: 'runtime',
  ...forgiving,
  operationId: 'generateText',
  method: 'POST',
  path: '/ai',
  summary: 'Continue a conversation, as text or as JSON in the form of a schema or an example',
  callers,
  limit: 'ai',
  body,
  refuses: {
    tools: noTools,
    toolChoice: noTools,
    functions: noTools,
    functionCall: noTools,
    toolCalls: noTools,
    toolCallId: noTools,
    webSearch: noTools,
    webSearchOptions: noTools,
    responseFormat: jsonInstead,
    responseSchema: jsonInstead,
    outputSchema: jsonInstead,
    image: imagesInParts,
    images: imagesInParts,
    files: imagesInParts,
    attachments: imagesInParts,
    conversationId: nothingRemembered,
    conversation: nothingRemembered,
    threadId: nothingRemembered,
    previousResponseId: nothingRemembered,
    n: oneAnswer,
    bestOf: oneAnswer,
    stop: 'The answer ends where the model or "maxTokens" ends it: cut it at your text yourself.',
    stopSequences: 'The answer ends where the model or "maxTokens" ends it: cut it at your text.',
    modalities: 'Answers are text or JSON.',
  },
  elsewhere: { model: "The model is the owner's to set: the setting aiModel of the project." },
  response: z.object({
    text: z.string(),
    data: z.unknown().optional().describe('With "json": the parsed value'),
  }),
  answers: 'json-or-events',
  status: 200,
  errors: [
    'invalid_body',
    'invalid_header',
    'not_found',
    'out_of_credits',
    'conflict',
    'visitor_budget',
    'storage_quota',
    'overloaded',
    'upstream_failed',
    'timeout',
  ],
  price: {
    ...generationPrice,
    endsWithCaller: true,
    needsBody: true,
    worstCase: ({ body }) => promptTokensAtMost(body) + outputTokensAtMost(body),
  },
});
