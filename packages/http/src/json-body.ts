import { ApiError, defaultBodyLimitBytes, type RouteDefinition } from '@backlot/contract';
import express, { type Request, type RequestHandler, type Response } from 'express';

const readers = new Map<number, RequestHandler>();
const readerFor = (limitBytes: number) => {
  const reader = readers.get(limitBytes) ?? express.raw({ limit: limitBytes, type: () => true });
  readers.set(limitBytes, reader);
  return reader;
};

const utf8 = new TextDecoder('utf-8', { fatal: true });

const hasBody = (req: Request) =>
  req.headers['transfer-encoding'] !== undefined || Number(req.headers['content-length'] ?? 0) > 0;

const checkContentType = (req: Request) => {
  const [type = '', ...parameters] = (req.headers['content-type'] ?? '').toLowerCase().split(';');
  if (!/^application\/([a-z0-9.+-]+\+)?json$/.test(type.trim())) {
    throw new ApiError('unsupported_media_type', 'Send the body as JSON.', {
      hint: 'Set the header Content-Type: application/json.',
    });
  }
  const charset = parameters.map((each) => each.trim()).find((each) => each.startsWith('charset='));
  if (charset && !/^charset="?utf-?8"?$/.test(charset)) {
    throw new ApiError('unsupported_media_type', 'JSON must be encoded in UTF-8.');
  }
};

/** body-parser's failures, by the `type` that it documents. */
const translateReadFailure = (error: unknown, limitBytes: number): unknown => {
  const type = error instanceof Error && 'type' in error ? error.type : undefined;
  switch (type) {
    case 'entity.too.large':
      return new ApiError('body_too_large', `The body may have at most ${limitBytes} bytes.`);
    case 'encoding.unsupported':
      return new ApiError('unsupported_media_type', 'This Content-Encoding is not supported.');
    case 'request.size.invalid':
    case 'request.aborted':
      return new ApiError('invalid_body', 'The body ended before its Content-Length.');
    default:
      // zlib reports a broken gzip or deflate body.
      if (error instanceof Error && 'code' in error && String(error.code).startsWith('Z_')) {
        return new ApiError('invalid_body', 'The compressed body is broken.');
      }
      return error;
  }
};

const read = (req: Request, res: Response, limitBytes: number) =>
  new Promise<Buffer>((resolve, reject) => {
    readerFor(limitBytes)(req, res, (error?: unknown) => {
      if (error) reject(translateReadFailure(error, limitBytes));
      else resolve(Buffer.isBuffer(req.body) ? req.body : Buffer.alloc(0));
    });
  });

/**
 * Reads the body of a route that takes one; the text is what was sent, the value what it means.
 * @throws ApiError body_too_large, unsupported_media_type, invalid_json, invalid_body
 */
export const readJsonBody = async (
  req: Request,
  res: Response,
  definition: RouteDefinition,
): Promise<{ value: unknown; text: string }> => {
  if (!definition.body || !hasBody(req)) return { value: undefined, text: '' };
  const limitBytes = definition.bodyLimitBytes ?? defaultBodyLimitBytes;
  if (Number(req.headers['content-length'] ?? 0) > limitBytes) {
    throw new ApiError('body_too_large', `The body may have at most ${limitBytes} bytes.`);
  }
  checkContentType(req);
  const bytes = await read(req, res, limitBytes);
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch (cause) {
    throw new ApiError('invalid_json', 'The body is not valid UTF-8.', { cause });
  }
  try {
    return { value: JSON.parse(text) as unknown, text };
  } catch (cause) {
    throw new ApiError('invalid_json', 'The body is not valid JSON.', { cause });
  }
};
