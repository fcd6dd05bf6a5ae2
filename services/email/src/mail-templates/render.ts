import { ApiError, oneLine } from '@backlot/contract';
import { escapeHtml } from '@backlot/http';
import { maxMailBytes } from '../template-texts/bounds.ts';
import { fillIn } from '../template-texts/language.ts';
import type { View } from './data.ts';

export interface Words {
  subject: string;
  html: string;
  text?: string | undefined;
}

const maxSubject = 200;

const tooLarge = () =>
  new ApiError('invalid_body', `The mail would have more than ${maxMailBytes} bytes.`);

/** Stops where the values alone are too much: a list repeats them. */
const bounded = (write: (text: string) => string) => {
  let left = maxMailBytes;
  return (value: unknown) => {
    const text = write(String(value));
    left -= text.length;
    if (left < 0) throw tooLarge();
    return text;
  };
};

const inHtml = (text: string) => escapeHtml(text).replaceAll('\n', '<br>\n');

/** @throws ApiError invalid_body where a mail would be too large, or its subject too long or empty */
export const renderWords = ({ subject, html, text }: Words, view: View): Words => {
  const filled = {
    subject: oneLine(fillIn(subject, view, bounded(String))),
    html: fillIn(html, view, bounded(inHtml)),
    ...(text !== undefined && { text: fillIn(text, view, bounded(String)) }),
  };
  if (Buffer.byteLength(filled.html) + Buffer.byteLength(filled.text ?? '') > maxMailBytes)
    throw tooLarge();
  if (filled.subject === '' || filled.subject.length > maxSubject)
    throw new ApiError('invalid_body', `The subject would not have 1 to ${maxSubject} characters.`);
  return filled;
};
