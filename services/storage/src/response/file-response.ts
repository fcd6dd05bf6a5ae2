import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';
import { ApiError } from '@backlot/contract';
import { create as contentDisposition } from 'content-disposition';
import fresh from 'fresh';
import parseRange from 'range-parser';
import type { ByteRange } from '../blob-store/blob-store.ts';
import { isShownInline, pdf, plainText, svg } from '../media-types/media-type.ts';

/** A file, or an image made from one. */
export interface Content {
  name: string;
  mediaType: string;
  sizeBytes: number;
  /** Different for each content; any characters but quotes. */
  version: string;
  createdAt: Date;
  isPublic: boolean;
  /** Of a PDF: the origins of pages that may frame it; every page where it is undefined. */
  framedBy?: readonly string[] | undefined;
}

export type FileResponse =
  | { status: 304; headers: OutgoingHttpHeaders }
  | { status: 200 | 206; headers: OutgoingHttpHeaders; range?: ByteRange };

/** Nothing of a file runs, and nothing that it names is fetched, even where a browser shows it. */
const sealed = "default-src 'none'; sandbox";
/** What an SVG carries in itself is a part of the picture (docs/decisions/0024). */
const sealedSvg =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; sandbox";
/** Proxies refuse heads of more than 16 KB; a hundred origins of usual length have 4. */
const maxAncestorsLength = 10_000;

const framePolicy = (origins: readonly string[] | undefined): string => {
  let policy = `frame-ancestors ${origins ? "'self'" : '*'}`;
  for (const origin of origins ?? [])
    if (policy.length + origin.length < maxAncestorsLength) policy += ` ${origin}`;
  return policy;
};

const forever = 'public, max-age=31536000, immutable';
const revalidated = 'private, no-cache';
/** Who may frame it changes with the project's settings. */
const publicRevalidated = 'public, no-cache';

/** It may be sent with its policy alone: a store that readers are redirected to sends none. */
export const needsPolicy = (mediaType: string): boolean => [svg, pdf].includes(mediaType);

const cacheControl = ({ isPublic, mediaType }: Content) => {
  if (!isPublic) return revalidated;
  return mediaType === pdf ? publicRevalidated : forever;
};

const cachingHeaders = (content: Content) => ({
  etag: `"${content.version}"`,
  'last-modified': content.createdAt.toUTCString(),
  'cache-control': cacheControl(content),
});

const policy = ({ mediaType, framedBy }: Content): string => {
  if (mediaType === pdf) return framePolicy(framedBy);
  return mediaType === svg ? sealedSvg : sealed;
};

/** A 304 has it too: a cache takes over the headers of that one. */
const policyHeader = (content: Content) => ({ 'content-security-policy': policy(content) });

const contentHeaders = (content: Content): OutgoingHttpHeaders => {
  const { name, mediaType } = content;
  return {
    ...cachingHeaders(content),
    ...policyHeader(content),
    'accept-ranges': 'bytes',
    'content-type': mediaType === plainText ? 'text/plain; charset=utf-8' : mediaType,
    'content-disposition': contentDisposition(name, {
      type: isShownInline(mediaType) ? 'inline' : 'attachment',
    }),
    'cross-origin-resource-policy': 'cross-origin',
    'x-content-type-options': 'nosniff',
  };
};

/** Whether `If-Range` names this content (RFC 9110, section 13.1.5). */
const matchesIfRange = (condition: string, { etag, ...rest }: ReturnType<typeof cachingHeaders>) =>
  condition.startsWith('"') ? condition === etag : condition === rest['last-modified'];

/** A suffix longer than the content means all of it (RFC 9110, section 14.1.2); the parser refuses it. */
const isSuffixBeyondStart = (range: string, sizeBytes: number) =>
  Number(/^bytes=-(\d+)$/.exec(range)?.[1] ?? 0) > sizeBytes;

/**
 * The one part that is requested; undefined where all is to be sent, as for several parts at once.
 * @throws ApiError range_not_satisfiable
 */
const requestedRange = (headers: IncomingHttpHeaders, content: Content): ByteRange | undefined => {
  const { range, 'if-range': condition } = headers;
  if (range === undefined || !range.startsWith('bytes=')) return undefined;
  if (typeof condition === 'string' && !matchesIfRange(condition, cachingHeaders(content)))
    return undefined;
  const { sizeBytes } = content;
  // Of nothing no part can be named, and some callers ask for one of whatever they read.
  if (sizeBytes === 0) return undefined;
  const suffixed = isSuffixBeyondStart(range, sizeBytes) ? 'bytes=0-' : range;
  const ranges = parseRange(sizeBytes, suffixed, { combine: true });
  if (ranges === -2) return undefined;
  if (ranges === -1)
    throw new ApiError('range_not_satisfiable', 'The file has no such part.', {
      headers: { 'Content-Range': `bytes */${sizeBytes}` },
    });
  const [only, ...more] = ranges;
  return only && more.length === 0 ? { start: only.start, end: only.end } : undefined;
};

/** @throws ApiError range_not_satisfiable */
export const prepareResponse = (
  content: Content,
  method: string,
  requestHeaders: IncomingHttpHeaders,
): FileResponse => {
  const caching = cachingHeaders(content);
  // A reload sends `no-cache` too; it is answered 304 all the same where nothing has changed.
  const conditions = { ...requestHeaders, 'cache-control': undefined };
  if (fresh(conditions, caching))
    return { status: 304, headers: { ...caching, ...policyHeader(content) } };
  const { sizeBytes } = content;
  const headers = contentHeaders(content);
  // Parts are defined for GET alone (RFC 9110, section 14.2).
  const range = method === 'GET' ? requestedRange(requestHeaders, content) : undefined;
  if (!range) return { status: 200, headers: { ...headers, 'content-length': sizeBytes } };
  const { start, end } = range;
  return {
    status: 206,
    range,
    headers: {
      ...headers,
      'content-length': end - start + 1,
      'content-range': `bytes ${start}-${end}/${sizeBytes}`,
    },
  };
};
