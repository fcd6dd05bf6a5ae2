import { types } from 'node:util';
import { type DestinationStream, type Logger, pino } from 'pino';
import { createErrorDescription } from './describe-error.ts';
import { currentOrigin } from './origin.ts';

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

/** Also of another realm. */
const isError = (value: unknown) => types.isNativeError(value) || value instanceof Error;

/** Everything that was thrown stands at the top of a line. */
const describeErrors = (describe: (error: unknown) => unknown) => (fields: object) =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) =>
      isError(value) || name === 'err' ? [name, describe(value)] : [name, value],
    ),
  );

/** Lines written while a call is worked for name it, in whatever process. */
const nameCall = () => {
  const requestId = currentOrigin()?.requestId;
  return requestId === undefined ? {} : { requestId };
};

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
    mixin: nameCall,
    formatters: { log: describeErrors(createErrorDescription()) },
    // pino's own would copy them again.
    serializers: { err: (described: unknown) => described },
    timestamp: pino.stdTimeFunctions.isoTime,
  };
  return destination ? pino(options, destination) : pino(options);
};
