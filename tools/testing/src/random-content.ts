import { randomBytes } from 'node:crypto';

/**
 * Random bytes that begin as no known type of file does. Wholly random ones do about once in 2,000
 * times: two bytes make an MP3, a bitmap or a PostScript document.
 */
export function makeRandomContent(bytes: number): Buffer<ArrayBuffer> {
  const content = randomBytes(bytes);
  content.fill(0, 0, 8);
  return content;
}
