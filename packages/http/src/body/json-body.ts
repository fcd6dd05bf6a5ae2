import type { IncomingMessage } from 'node:http';
import type { Readable, Transform } from 'node:stream';
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from 'node:zlib';
import { ApiError, defaultBodyLimitBytes, type RouteDefinition } from '@backlot/contract';
import rawBody from 'raw-body';
import { checkShape } from './json-shape.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

const hasBody = (req: IncomingMessage) =>
  req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;

const checkContentType = (req: IncomingMessage) => {
  const [type = '', ...parameters] = (req.headers['content-type'] ?? '').toLowerCase().split(';');
  if (!/^application\/([a-z0-9.+-]+\+)?json$/.test(type.trim())) {
    throw new ApiError('unsupported_media_type', 'Send the body as JSON.', {
      hint: 'Set the header Content-Type: application/json.',
    });
  }
  const charset = parameters
    .map((parameter) => parameter.trim())
    .find((parameter) => parameter.startsWith('charset='));
  if (charset && !/^charset="?utf-?8"?$/.test(charset)) {
    throw new ApiError('unsupported_media_type', 'JSON must be encoded in UTF-8.');
  }
};

const bodyTooLarge = (limitBytes: number) =>
  new ApiError('body_too_large', `The body may have at most ${limitBytes} bytes.`);

const decoders: Record<string, () => Transform> = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/** The body without its Content-Encoding. */
const decoded = (req: IncomingMessage): Readable => {
  const encoding = (req.headers['content-encoding'] ?? 'identity').toLowerCase();
  if (encoding === 'identity' || encoding === '') return req;
  const decoder = Object.hasOwn(decoders, encoding) ? decoders[encoding]?.() : undefined;
  if (!decoder) {
    throw new ApiError('unsupported_media_type', 'This Content-Encoding is not supported.', {
      hint: `Send one of ${Object.keys(decoders).join(', ')}, or none.`,
    });
  }
  // What it says once nobody reads it any longer.
  decoder.on('error', () => {});
  req.once('close', () => {
    if (!req.complete) decoder.destroy(new Error('The caller has gone.'));
  });
  return req.pipe(decoder);
};

/** Whether all of the body is here, and nobody has read of it. */
export const isBodyHere = ({ headers, readableLength }: IncomingMessage): boolean =>
  Number(headers['content-length']) === readableLength;

/** Without listeners and their turns of the event loop. */
const takeBody = (req: IncomingMessage): Buffer => {
  const bytes: Buffer = req.read(req.readableLength);
  // Else it would have no end.
  req.resume();
  return bytes;
};

/** Ends at the limit, whatever it would still become. @throws ApiError */
const read = async (req: IncomingMessage, limitBytes: number): Promise<Buffer> => {
  const stream = decoded(req);
  if (stream === req && isBodyHere(req)) return takeBody(req);
  try {
    const bytes: Promise<Buffer> = rawBody(stream, { limit: limitBytes });
    return await bytes;
  } catch (cause) {
    if (cause instanceof Error && 'type' in cause && cause.type === 'entity.too.large')
      throw bodyTooLarge(limitBytes);
    throw new ApiError('invalid_body', 'The body is broken, or ended before its length.', {
      cause,
    });
  } finally {
    if (stream !== req) {
      req.unpipe();
      stream.destroy();
    }
  }
};

/** Of a body that says nothing: clients send `{}` where they have nothing to send. */
const emptyBodyBytes = 64;

const isEmpty = (text: string): boolean => /^\s*(\{\s*\}|null)?\s*$/.test(text);

/** What would be passed over may be what the caller meant. @throws ApiError invalid_body */
const refuseContent = async (req: IncomingMessage): Promise<undefined> => {
  const isLarge = Number(req.headers['content-length'] ?? 0) > emptyBodyBytes;
  if (!isLarge && isEmpty((await read(req, emptyBodyBytes)).toString())) return undefined;
  throw takesNoBody();
};

const takesNoBody = (cause?: unknown) =>
  new ApiError('invalid_body', 'This call takes no body.', { cause, hint: 'Send none, or {}.' });

/**
 * The body of a route that takes one, as it was sent; undefined where there is none.
 * @throws ApiError body_too_large, unsupported_media_type, invalid_body
 */
export const readBody = async (
  req: IncomingMessage,
  definition: RouteDefinition,
): Promise<Buffer | undefined> => {
  if (!hasBody(req)) return undefined;
  if (!definition.body) return refuseContent(req);
  const limitBytes = definition.bodyLimitBytes ?? defaultBodyLimitBytes;
  if (Number(req.headers['content-length'] ?? 0) > limitBytes) {
    throw bodyTooLarge(limitBytes);
  }
  checkContentType(req);
  return read(req, limitBytes);
};

/** The text is what was sent, the value what it means. @throws ApiError invalid_json */
export const parseJson = (bytes: Buffer | undefined): { value: unknown; text: string } => {
  if (!bytes) return { value: undefined, text: '' };
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch (cause) {
    throw new ApiError('invalid_json', 'The body is not valid UTF-8.', { cause });
  }
  checkShape(text);
  try {
    return { value: JSON.parse(text) as unknown, text };
  } catch (cause) {
    throw new ApiError('invalid_json', 'The body is not valid JSON.', {
      cause,
      hint: 'Send what JSON.stringify makes of an object, as in {"title":"x"}.',
    });
  }
};
