import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import cors from 'cors';

const exposedHeaders = [
  'RateLimit, RateLimit-Policy, Retry-After, X-Request-Id, ETag, Idempotent-Replayed, Location, Backlot-Hint',
  'Accept-Ranges, Content-Disposition, Content-Range',
  'Tus-Resumable, Upload-Offset, Upload-Length, Upload-Metadata, Upload-Expires',
  'X-File-Id, X-File-Url',
].join(', ');

const usualHeaders = [
  'Authorization, Backlot-Preview, Backlot-View-As, Content-Type, Idempotency-Key, If-Match, X-Request-Id',
  'Tus-Resumable, Upload-Length, Upload-Metadata, Upload-Offset',
].join(', ');

/** Up to 50 names of headers (RFC 9110, section 5.6.2), as a browser lists them. */
const headerNames = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}(, ?[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}){0,49}$/;

const crossOrigin = cors({
  methods: 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
  allowedHeaders: usualHeaders,
  maxAge: 7200,
  // Else its answer carries a Content-Length, which a 204 may not (RFC 9110, section 8.6).
  preflightContinue: true,
});

/**
 * A preflight is answered without a look at credentials or rate limits. What a client's library sends beside ours
 * (`Prefer`, `X-Client-Info`) is let through, and ignored.
 */
export const answerPreflight = (req: IncomingMessage, res: ServerResponse): void =>
  crossOrigin(req, res, () => {
    res.setHeader('Vary', 'Access-Control-Request-Headers');
    const asked = req.headers['access-control-request-headers'];
    if (asked !== undefined && headerNames.test(asked))
      res.setHeader('Access-Control-Allow-Headers', asked);
    res.writeHead(204).end();
  });

const acceptableRequestId = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Security headers, which a service may replace, that any origin may call, and the request id: the caller's own where
 * it is well formed, else a new one. HSTS only where the public address is https.
 */
export const createStandardHeaders = (publicUrl: string) => {
  // What `cors` sets is the same for every answer to a call: it is left to preflights (docs/decisions/0014).
  const headers: [string, string][] = [
    ['Cache-Control', 'no-store'],
    ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
    ['Cross-Origin-Resource-Policy', 'cross-origin'],
    ['Referrer-Policy', 'no-referrer'],
    ['X-Content-Type-Options', 'nosniff'],
    ['Access-Control-Allow-Origin', '*'],
    ['Access-Control-Expose-Headers', exposedHeaders],
  ];
  if (publicUrl.startsWith('https:'))
    headers.push(['Strict-Transport-Security', 'max-age=31536000']);
  return (req: IncomingMessage, res: ServerResponse): void => {
    for (const [name, value] of headers) res.setHeader(name, value);
    const proposed = req.headers['x-request-id'];
    const isAcceptable = typeof proposed === 'string' && acceptableRequestId.test(proposed);
    res.setHeader('X-Request-Id', isAcceptable ? proposed : randomUUID());
  };
};
