import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import cors from 'cors';
import type { RequestHandler } from 'express';

const usualHeaders = [
  'Authorization, Content-Type, Idempotency-Key, If-Match, X-Request-Id',
  'Tus-Resumable, Upload-Length, Upload-Metadata, Upload-Offset',
].join(', ');

const crossOrigin = cors({
  origin: '*',
  methods: 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
  allowedHeaders: usualHeaders,
  exposedHeaders: [
    'RateLimit, RateLimit-Policy, Retry-After, X-Request-Id, ETag, Idempotent-Replayed, Location, Backlot-Hint',
    'Accept-Ranges, Content-Disposition, Content-Range',
    'Tus-Resumable, Upload-Offset, Upload-Length, Upload-Metadata, Upload-Expires',
    'X-File-Id, X-File-Url',
  ].join(', '),
  maxAge: 7200,
  // Else its answer carries a Content-Length, which a 204 may not (RFC 9110, section 8.6).
  preflightContinue: true,
});

/** Up to 50 names of headers (RFC 9110, section 5.6.2), as a browser lists them. */
const headerNames = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}(, ?[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}){0,49}$/;

/** What a client's library sends beside ours (`Prefer`, `X-Client-Info`) is let through, and ignored. */
const allowAskedHeaders = (req: IncomingMessage, res: ServerResponse) => {
  res.setHeader('Vary', 'Access-Control-Request-Headers');
  const asked = req.headers['access-control-request-headers'];
  if (asked !== undefined && headerNames.test(asked))
    res.setHeader('Access-Control-Allow-Headers', asked);
};

/** Any origin may call the API. A preflight is answered without a look at credentials or counters. */
export const crossOriginHeaders: RequestHandler[] = [
  crossOrigin,
  (req, res, next) => {
    if (req.method !== 'OPTIONS') return next();
    allowAskedHeaders(req, res);
    res.writeHead(204).end();
  },
];

const acceptableRequestId = /^[A-Za-z0-9_-]{1,64}$/;

/**
 * Security headers, which a service may replace, and the request id: the caller's own where it is well
 * formed, else a new one. HSTS only where the public address is https.
 */
export const createStandardHeaders = (publicUrl: string): RequestHandler => {
  const headers: [string, string][] = [
    ['Cache-Control', 'no-store'],
    ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
    ['Cross-Origin-Resource-Policy', 'cross-origin'],
    ['Referrer-Policy', 'no-referrer'],
    ['X-Content-Type-Options', 'nosniff'],
  ];
  if (publicUrl.startsWith('https:'))
    headers.push(['Strict-Transport-Security', 'max-age=31536000']);
  return (req, res, next) => {
    for (const [name, value] of headers) res.setHeader(name, value);
    const proposed = req.headers['x-request-id'];
    const isAcceptable = typeof proposed === 'string' && acceptableRequestId.test(proposed);
    res.setHeader('X-Request-Id', isAcceptable ? proposed : randomUUID());
    next();
  };
};
