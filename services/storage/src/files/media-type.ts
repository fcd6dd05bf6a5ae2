import { fileTypeFromBuffer } from 'file-type';
import { isSvg } from './svg.ts';

/** How many of a file's first bytes decide its type. */
export const headBytes = 4100;

const binary = 'application/octet-stream';
export const plainText = 'text/plain';
export const svg = 'image/svg+xml';
export const pdf = 'application/pdf';

const utf8 = () => new TextDecoder('utf-8', { fatal: true });
// biome-ignore lint/suspicious/noControlCharactersInRegex: what text does not hold
const notText = /[\0-\x08\x0e-\x1a\x1c-\x1f]/;

const isText = (head: Buffer, isWhole: boolean): boolean => {
  try {
    return !notText.test(utf8().decode(head, { stream: !isWhole }));
  } catch {
    return false;
  }
};

/** From the content alone, whatever the caller says it is. */
export const detectMediaType = async (head: Buffer, sizeBytes: number): Promise<string> => {
  // The library may throw on a file that is cut off.
  const found = await fileTypeFromBuffer(head).catch(() => undefined);
  if ((!found || found.mime === 'application/xml') && isSvg(head)) return svg;
  if (found) return found.mime;
  return isText(head, head.length === sizeBytes) ? plainText : binary;
};

/** Shown by a browser in place, without running anything; all others are saved. */
const inline = new Set([
  ...['image/apng', 'image/avif', 'image/bmp', 'image/gif', 'image/jpeg', 'image/png'],
  ...['image/webp', 'image/vnd.microsoft.icon', 'image/x-icon', svg],
  ...['audio/aac', 'audio/flac', 'audio/mp4', 'audio/mpeg', 'audio/ogg', 'audio/opus'],
  ...['audio/wav', 'audio/webm', 'audio/x-flac', 'audio/x-m4a'],
  ...['video/mp4', 'video/ogg', 'video/quicktime', 'video/webm', 'video/x-m4v'],
  ...[plainText, pdf],
]);

/** file-type adds parameters, such as the codec of an Ogg. */
export const isShownInline = (mediaType: string): boolean =>
  inline.has(mediaType.split(';')[0]?.trim() ?? '');
