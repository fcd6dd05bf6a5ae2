import type { ServerResponse } from 'node:http';

export const contentSecurityPolicy = "default-src 'none'; frame-ancestors 'none'";

const exposedHeaders = [
  'RateLimit, RateLimit-Policy, Retry-After, X-Request-Id, ETag, Idempotent-Replayed, Location',
  'Accept-Ranges, Content-Disposition, Content-Range',
  'Tus-Resumable, Upload-Offset, Upload-Length, Upload-Metadata, Upload-Expires',
  'X-File-Id, X-File-Url',
].join(', ');

const preflightHeaders: Record<string, string> = {
  'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
  'Access-Control-Allow-Headers': [
    'Authorization, Content-Type, Idempotency-Key, If-Match, X-Request-Id',
    'Tus-Resumable, Upload-Length, Upload-Metadata, Upload-Offset',
  ].join(', '),
  'Access-Control-Max-Age': '7200',
};

export interface StandardHeaders {
  /** On every answer; a service may replace them. */
  set(res: ServerResponse, requestId: string): void;
  /** Answers a preflight; no credential and no counter is looked at. */
  answerPreflight(res: ServerResponse): void;
}

/** CORS and security headers of contract section 2. HSTS only where the public address is https. */
export const createStandardHeaders = (publicUrl: string): StandardHeaders => {
  const headers: [string, string][] = [
    ['Access-Control-Allow-Origin', '*'],
    ['Access-Control-Expose-Headers', exposedHeaders],
    ['Cache-Control', 'no-store'],
    ['Content-Security-Policy', contentSecurityPolicy],
    ['Cross-Origin-Resource-Policy', 'cross-origin'],
    ['Referrer-Policy', 'no-referrer'],
    ['X-Content-Type-Options', 'nosniff'],
  ];
  if (publicUrl.startsWith('https:'))
    headers.push(['Strict-Transport-Security', 'max-age=31536000']);
  return {
    set(res, requestId) {
      for (const [name, value] of headers) res.setHeader(name, value);
      res.setHeader('X-Request-Id', requestId);
    },
    answerPreflight(res) {
      res.writeHead(204, preflightHeaders);
      res.end();
    },
  };
};
