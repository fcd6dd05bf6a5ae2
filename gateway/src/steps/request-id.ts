import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** Contract section 2. */
const acceptable = /^[A-Za-z0-9_-]{1,64}$/;

/** The caller's own id when it is well formed, else a new one. */
export const requestIdOf = (req: IncomingMessage): string => {
  const given = req.headers['x-request-id'];
  return typeof given === 'string' && acceptable.test(given) ? given : randomUUID();
};
