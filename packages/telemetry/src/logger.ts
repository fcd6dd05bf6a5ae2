import { type DestinationStream, type Logger, pino } from 'pino';

export type { Logger } from 'pino';

/** Never written, wherever it stands in a log line. */
const secretFields = [
  'password',
  'currentPassword',
  'newPassword',
  'token',
  'key',
  'authorization',
  'secret',
  'cookie',
];
const redactedPaths = secretFields.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]);

/**
 * Codes and the like: what a cause says in words stands in the stack of `err`. Some causes, such as
 * DOMException, can't be copied, and redaction copies what is nested.
 */
const primitiveProperties = (cause: unknown): unknown =>
  typeof cause === 'object' && cause !== null
    ? Object.fromEntries(
        Object.entries(cause).filter(([, value]) => value !== Object(value) && value !== undefined),
      )
    : cause;

export interface LoggerOptions {
  service: string;
  /** pino's levels; `silent` writes nothing. Default `info`. */
  level?: string;
  destination?: DestinationStream;
}

/** JSON lines on standard output, secrets removed. */
export const createLogger = ({ service, level = 'info', destination }: LoggerOptions): Logger => {
  const options = {
    level,
    base: { service },
    redact: { paths: redactedPaths, censor: '[removed]' },
    serializers: { cause: primitiveProperties },
    timestamp: pino.stdTimeFunctions.isoTime,
  };
  return destination ? pino(options, destination) : pino(options);
};
