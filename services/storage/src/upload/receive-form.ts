import { AsyncLocalStorage } from 'node:async_hooks';
import type { IncomingMessage } from 'node:http';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { ApiError, KIB } from '@backlot/contract';
import multer, { MulterError, type StorageEngine } from 'multer';
import { type Audience, parseAudience, type WantedAudience } from '../files/audience.ts';
import type { ReceivedFile } from '../files/file.ts';
import { cleanFileName } from '../files/file-name.ts';
import type { SizeLimit } from '../files/quota.ts';
import { FormBroken, measure } from './measure.ts';
import { type BodyOptions, pipeBody } from './pipe-body.ts';

export interface FormOptions extends BodyOptions {
  limit: SizeLimit;
  /** Whom the file is for, where the caller may upload for them; throws where not. */
  resolveAudience(wanted: WantedAudience): Promise<Audience>;
  store(source: AsyncIterable<Buffer>): Promise<void>;
}

/** What comes while the store writes reaches it as one block of so many bytes at most (docs/decisions/0032). */
const blockBytes = 256 * KIB;

/** multer needs no more of a request than a stream with headers. */
type FormParser = (form: PassThrough, res: undefined, done: (error?: unknown) => void) => void;

const limits = {
  files: 1,
  fields: 20,
  parts: 24,
  fieldNameSize: 100,
  fieldSize: KIB,
  headerPairs: 50,
  fieldNestingDepth: 1,
  fieldArrayIndexLimit: 0,
};

const invalid = (message: string, cause?: unknown) =>
  new ApiError('invalid_body', message, { cause });

/** Asks once for what stands before the file and behind it. */
const createReadAudience = (resolve: FormOptions['resolveAudience']) => {
  let asked = '';
  let audience: Promise<Audience> | undefined;
  return (form: unknown): Promise<Audience> => {
    const wanted = parseAudience(Object(form), (field, rule) => invalid(`"${field}" ${rule}`));
    const text = JSON.stringify(wanted);
    if (!audience || asked !== text) audience = resolve(wanted);
    asked = text;
    return audience;
  };
};

const messages: Partial<Record<string, string>> = {
  LIMIT_UNEXPECTED_FILE: '"file": send exactly one file, in a part of this name.',
  LIMIT_FILE_COUNT: '"file": send exactly one file.',
  LIMIT_FIELD_COUNT: `The form may have at most ${limits.fields} fields.`,
  LIMIT_PART_COUNT: `The form may have at most ${limits.parts} parts.`,
  LIMIT_FIELD_VALUE: `A field may have at most ${limits.fieldSize} bytes.`,
};

const translate = (error: unknown): unknown => {
  if (error instanceof ApiError) return error;
  if (!(error instanceof MulterError)) return invalid('The form is broken or incomplete.', error);
  const message = messages[error.code] ?? 'The form holds a part that is not taken.';
  return invalid(error.field ? `${message} (${JSON.stringify(error.field)})` : message, error);
};

const gaveWay = () =>
  new ApiError('overloaded', 'Others wait, and the file came too slowly. Try again shortly.', {
    retryAfterSeconds: 5,
  });

/** The request as the form parser sees it; fails where the caller goes or falls silent. */
const openForm = (req: IncomingMessage, options: BodyOptions) => {
  const form = Object.assign(new PassThrough({ highWaterMark: 64 * KIB }), {
    headers: req.headers,
  });
  pipeBody(req, form, options, {
    onGone: () => form.destroy(invalid('The form ended before it was complete.')),
    onSilence: () => form.destroy(invalid(`Too few bytes came in ${options.idleMs / 1000} s.`)),
    onGiveWay: () => form.destroy(gaveWay()),
  });
  return form;
};

/** Hands each file to `receive`; what that throws is what the call fails with. */
const createStorageEngine = (
  receive: (form: unknown, file: Express.Multer.File) => Promise<void>,
): StorageEngine => {
  // A form whose bytes come later is read where they arrive: outside of the call and its project.
  const receiveInCall = AsyncLocalStorage.bind(receive);
  return {
    _handleFile(req, file, done) {
      receiveInCall(req.body, file).then(
        () => done(null, {}),
        (error: unknown) => done(error),
      );
    },
    _removeFile(_req, _file, done) {
      done(null);
    },
  };
};

const parse = (form: PassThrough, storage: StorageEngine) =>
  new Promise<void>((resolve, reject) => {
    let isDone = false;
    // multer reads a form that it has refused to its end before it reports that: here the end comes at once.
    const streamHandler = (source: Readable, parser: Writable) => {
      let isComplete = false;
      parser.once('close', () => {
        isComplete = true;
      });
      parser.once('unpipe', () => {
        if (!isComplete) setImmediate(() => isDone || form.destroy());
      });
      source.pipe(parser);
    };
    const options = {
      storage,
      limits,
      streamHandler,
      fileHwm: blockBytes,
      defParamCharset: 'utf8',
      preservePath: true,
    };
    const read = multer(options).single('file') as unknown as FormParser;
    read(form, undefined, (error) => {
      isDone = true;
      if (error) reject(error);
      else resolve();
    });
  });

const checkHead = ({ headers }: IncomingMessage) => {
  if (!/^multipart\/form-data\b/i.test(headers['content-type'] ?? ''))
    throw new ApiError('unsupported_media_type', 'Send the file as multipart/form-data.', {
      hint: 'In a page the body is a FormData with the file as "file"; curl: -F file=@photo.png.',
    });
  if (!/boundary=/i.test(headers['content-type'] ?? ''))
    throw new ApiError('invalid_body', 'The Content-Type has no boundary.', {
      hint: 'Set no Content-Type: fetch writes it for a FormData.',
    });
  if (!['identity', undefined].includes(headers['content-encoding']))
    throw new ApiError('unsupported_media_type', 'This Content-Encoding is not supported.');
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined)
    throw invalid('"file": send one part of this name, with a file name.');
};

/**
 * Streams the one file of a form into the store.
 * @throws ApiError unsupported_media_type, invalid_body, that of the limit, and what `store` throws
 */
export const receiveForm = async (
  req: IncomingMessage,
  { limit, store, resolveAudience, ...options }: FormOptions,
): Promise<ReceivedFile> => {
  checkHead(req);
  const readAudience = createReadAudience(resolveAudience);
  let receiving: Promise<Omit<ReceivedFile, keyof Audience>> | undefined;
  const receiveFile = async (
    fields: unknown,
    file: Express.Multer.File,
  ): Promise<Omit<ReceivedFile, keyof Audience>> => {
    await readAudience(fields);
    const measured = measure({
      limit,
      onEmpty: () => invalid('"file": is empty.'),
      hasDigest: req.headers['idempotency-key'] !== undefined,
    });
    await store(measured.through(file.stream));
    return { name: cleanFileName(file.originalname), ...(await measured.result()) };
  };
  const form = openForm(req, options);
  const engine = createStorageEngine(async (fields, file) => {
    receiving = receiveFile(fields, file);
    await receiving;
  });
  const parsing = parse(form, engine);
  try {
    await parsing;
    // Bytes after the last boundary belong to the body: only now the caller has sent all of it.
    await finished(form);
  } catch (error) {
    form.destroy();
    // Nobody removes what is left before the store has ended.
    const failure: unknown = await receiving?.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    throw failure === undefined || failure instanceof FormBroken ? translate(error) : failure;
  }
  const received = await receiving;
  if (!received) throw invalid('"file": send one part of this name, with a file name.');
  const { body: fields } = Object(form);
  return { ...received, ...(await readAudience(fields)), fields };
};
