import { z } from 'zod';
import { text, uuid } from '../../schemas.ts';

export const maxMessages = 100;

export const maxCharacters = 200_000;

export const anyText = text(0, maxCharacters);

const textPart = z.object({ type: z.literal('text'), text: anyText });

const imagePart = z.object({
  type: z.literal('image'),
  fileId: uuid.describe('A file that the caller may read'),
});

const part = z.discriminatedUnion('type', [textPart, imagePart]);

export const message = z
  .object(
    {
      role: z.enum(['system', 'user', 'assistant']),
      content: z.union([anyText, z.array(part).min(1).max(maxMessages)], {
        error: ({ input }) =>
          input === undefined
            ? 'is missing'
            : `must be a text, or 1 to ${maxMessages} parts such as {"type": "text", "text": "Hello"} and {"type": "image", "fileId": "<id>"}`,
      }),
    },
    'must be an object such as {"role": "user", "content": "Hello"}',
  )
  .meta({ id: 'ChatMessage' });

export type ChatPart = z.infer<typeof part>;

export interface ChatMessage {
  role: 'system' | 'user' | 'assistant';
  /** Without the images. */
  text: string;
  /** All of it in order, where it has images. */
  parts?: readonly ChatPart[];
}

type Message = z.infer<typeof message>;

export const plainText = (content: Message['content']): string =>
  typeof content === 'string'
    ? content
    : content.map((part) => (part.type === 'text' ? part.text : '')).join('');

export const countImages = ({ content }: Message): number =>
  typeof content === 'string' ? 0 : content.filter(({ type }) => type === 'image').length;

export const toChatMessage = (message: Message): ChatMessage => {
  const { role, content } = message;
  const plain = { role, text: plainText(content) };
  if (typeof content === 'string' || countImages(message) === 0) return plain;
  return { ...plain, parts: content };
};
