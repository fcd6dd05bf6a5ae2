/**
 * What a line says of an error: these and nothing else. Libraries hang commands, connections and requests on
 * theirs, with passwords in them.
 */
const saidProperties = [
  'code',
  'errno',
  'syscall',
  'hostname',
  'address',
  'port',
  'status',
  'statusCode',
  // PostgreSQL's, without what quotes rows.
  'severity',
  'schema',
  'table',
  'column',
  'constraint',
  'routine',
  'position',
];
const maxTextLength = 2000;
const maxStackLength = 8000;
const maxDepth = 5;
const maxErrors = 5;

/** Of an address: user and password. */
const credentials = /(?<=\/\/)[^/@\s]+@/g;

const cut = (text: string, length: number) => text.replace(credentials, '').slice(0, length);

type Described = Record<string, unknown> | string;

const describePlain = (value: unknown): unknown =>
  typeof value === 'string' ? cut(value, maxTextLength) : value;

const read = (object: object, name: string): unknown => (object as Record<string, unknown>)[name];

const describeProperties = (object: object) =>
  Object.fromEntries(
    saidProperties
      .map((name) => [name, read(object, name)] as const)
      .filter(([, value]) => typeof value === 'string' || typeof value === 'number')
      .map(([name, value]) => [name, describePlain(value)]),
  );

const hasText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** Of each place that fails, the stack is written once in this time. */
const stackEveryMs = 60_000;
const maxStacks = 200;

/**
 * How a log writes errors: type, message, codes, causes, and the stack of each place once a minute. Never what
 * else hangs on them.
 * @param now milliseconds
 */
export const createErrorDescription = (now: () => number = Date.now) => {
  const writtenAt = new Map<string, number>();
  const isDue = (stack: string) => {
    // Without its first line, which has the message.
    const place = stack.slice(stack.indexOf('\n    at '));
    const at = writtenAt.get(place);
    if (at !== undefined && now() - at < stackEveryMs) return false;
    writtenAt.delete(place);
    writtenAt.set(place, now());
    const [oldest] = writtenAt.keys();
    if (writtenAt.size > maxStacks && oldest !== undefined) writtenAt.delete(oldest);
    return true;
  };
  const describe = (error: unknown, depth = 1): Described => {
    if (typeof error !== 'object' || error === null) return cut(String(error), maxTextLength);
    const [message, stack, cause, errors] = ['message', 'stack', 'cause', 'errors'].map((name) =>
      read(error, name),
    );
    const name = read(error, 'name');
    return {
      ...(hasText(name) && { type: cut(name, maxTextLength) }),
      ...(hasText(message) && { message: cut(message, maxTextLength) }),
      ...describeProperties(error),
      ...(hasText(stack) && isDue(stack) && { stack: cut(stack, maxStackLength) }),
      ...(cause !== undefined && depth < maxDepth && { cause: describe(cause, depth + 1) }),
      ...(Array.isArray(errors) &&
        depth < maxDepth && {
          errors: errors.slice(0, maxErrors).map((one) => describe(one, depth + 1)),
        }),
    };
  };
  return (error: unknown): Described => describe(error);
};
