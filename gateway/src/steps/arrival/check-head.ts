import type { IncomingMessage } from 'node:http';
import { ApiError } from '@backlot/contract';

/**
 * Which of two is meant nobody knows, and a proxy in front may take the other one. Node's parser refuses a second
 * Content-Length, and one beside Transfer-Encoding; of these it keeps the first, or joins them.
 */
const single = new Set(['host', 'authorization', 'content-type', 'idempotency-key']);
/** A name or address, with or without a port (RFC 9112, section 3.2); a request of HTTP/1.0 may have none. */
const hostText = /^[A-Za-z0-9._~%!$&'()*+;=:[\]-]*$/;
const absoluteForm = /^https?:\/\/([^/?#]*)/i;

const repeatedHeader = ({ rawHeaders }: IncomingMessage): string | undefined => {
  const seen: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? '';
    if (!single.has(name)) continue;
    if (seen.includes(name)) return rawHeaders[index];
    seen.push(name);
  }
  return undefined;
};

/** @throws ApiError invalid_header, invalid_path for a head that can be read in two ways */
export const checkHead = (req: IncomingMessage): void => {
  const repeated = repeatedHeader(req);
  if (repeated !== undefined)
    throw new ApiError('invalid_header', `The header "${repeated}" may come once.`);
  const { host = '' } = req.headers;
  if (!hostText.test(host)) throw new ApiError('invalid_header', 'The header "Host" is no host.');
  const target = absoluteForm.exec(req.url ?? '')?.[1];
  if (target !== undefined && target.toLowerCase() !== host.toLowerCase())
    throw new ApiError('invalid_path', 'The address names another host than the header "Host".');
};
