import { fileTypeFromBuffer } from 'file-type';
import { isSvg } from './svg.ts';

/** How many of a file's first bytes, and of its last, decide its type. */
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

/** What is text by its nature, or begins like no text; other signatures are a few letters, as of a table. */
const textual =
  /^text\/|^application\/(xml|rtf|pdf|postscript|eps|x-unix-archive)$|^image\/(gif|x-xcf)$/;

const officeTypes = [
  ['word/document.xml', 'wordprocessingml.document'],
  ['xl/workbook.xml', 'spreadsheetml.sheet'],
  ['ppt/presentation.xml', 'presentationml.presentation'],
] as const;

/** Office documents whose list of types is not among the first entries; the directory stands at the end. */
const detectOffice = (head: Buffer, tail: Buffer): string | undefined => {
  const has = (name: string) => head.includes(name) || tail.includes(name);
  const [, type] = officeTypes.find(([name]) => has(name)) ?? [];
  return type !== undefined && has('[Content_Types].xml')
    ? `application/vnd.openxmlformats-officedocument.${type}`
    : undefined;
};

/** The library reads the directory of a TIFF, which may stand behind the pixels. */
const isTiff = (head: Buffer) => /^(?:II[*+]\0|MM\0[*+])/.test(head.toString('latin1', 0, 4));
/** Readers of PDF take what stands before its first line. */
const isPdf = (head: Buffer) =>
  /^(?:\xef\xbb\xbf)?\s*%PDF-\d/.test(head.toString('latin1', 0, 1024));

const detectBinary = async (head: Buffer, tail: Buffer): Promise<string | undefined> => {
  // The library may throw on a file that is cut off.
  const found = await fileTypeFromBuffer(head).catch(() => undefined);
  if (found?.mime === 'application/zip') return detectOffice(head, tail) ?? found.mime;
  if (found) return found.mime;
  if (isTiff(head)) return 'image/tiff';
  return isPdf(head) ? pdf : undefined;
};

/**
 * From the content alone, whatever the caller says it is.
 * @param head its first `headBytes`
 * @param tail its last ones, as many or fewer
 */
export const detectMediaType = async (
  head: Buffer,
  sizeBytes: number,
  tail: Buffer,
): Promise<string> => {
  const found = await detectBinary(head, tail);
  if ((!found || found === 'application/xml') && isSvg(head)) return svg;
  if (found && textual.test(found)) return found;
  if (isText(head, head.length === sizeBytes)) return plainText;
  return found ?? binary;
};

/** Shown by a browser in place, without running anything; all others are saved. */
const inline = new Set([
  'image/apng',
  'image/avif',
  'image/bmp',
  'image/gif',
  'image/jpeg',
  'image/png',
  'image/webp',
  'image/vnd.microsoft.icon',
  'image/x-icon',
  svg,
  'audio/aac',
  'audio/flac',
  'audio/mp4',
  'audio/mpeg',
  'audio/ogg',
  'audio/opus',
  'audio/wav',
  'audio/webm',
  'audio/x-flac',
  'audio/x-m4a',
  'video/mp4',
  'video/ogg',
  'video/quicktime',
  'video/webm',
  'video/x-m4v',
  plainText,
  pdf,
]);

/** file-type adds parameters, such as the codec of an Ogg. */
export const isShownInline = (mediaType: string): boolean =>
  inline.has(mediaType.split(';')[0]?.trim() ?? '');
