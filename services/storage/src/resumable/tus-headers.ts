import { ApiError, KIB, storageRoutes } from '@backlot/contract';
import { findWay } from '@backlot/http';
import { Metadata, TUS_RESUMABLE } from '@tus/server';
import { parseAudience, type WantedAudience } from '../files/audience.ts';
import { cleanFileName } from '../files/file-name.ts';

/** A request header by its lower-case name. */
export type GetHeader = (name: string) => string | undefined;

export interface NewUpload extends WantedAudience {
  name: string;
  sizeBytes: number;
  /** Upload-Metadata as it was sent; '' without it. */
  metadata: string;
}

export const bytesType = 'application/offset+octet-stream';
const maxMetadataLength = 8 * KIB;
/** What is read of it. */
const known = new Set(['filename', 'visibility', 'groupId', 'collection', 'recordId']);

const invalid = (name: string, rule: string, cause?: unknown) =>
  new ApiError('invalid_header', `"${name}": ${rule}`, { cause });

/** @throws ApiError precondition_failed on another version of the protocol, or none */
export const checkVersion = (version: string | undefined): void => {
  if (version === TUS_RESUMABLE) return;
  throw new ApiError('precondition_failed', `"Tus-Resumable" must be ${TUS_RESUMABLE}.`, {
    headers: { 'Tus-Version': TUS_RESUMABLE },
  });
};

const parseByteCount = (name: 'Upload-Length' | 'Upload-Offset', header: GetHeader): number => {
  const value = header(name.toLowerCase());
  if (value !== undefined && /^(0|[1-9][0-9]{0,14})$/.test(value)) return Number(value);
  throw invalid(name, 'must be a whole number of bytes.');
};

const parseMetadata = (sent: string): Record<string, string | null> => {
  // Joined header fields and many clients have a space behind the comma (RFC 9110, section 5.6.1).
  const metadata = sent.trim().replace(/[ \t]*,[ \t]*/g, ',');
  if (metadata.length > maxMetadataLength)
    throw invalid('Upload-Metadata', `may have at most ${maxMetadataLength} characters.`);
  try {
    return metadata === '' ? {} : Metadata.parse(metadata);
  } catch (cause) {
    const rule = 'must be `key base64` pairs, separated by commas, each key once.';
    throw invalid('Upload-Metadata', rule, cause);
  }
};

/**
 * @param sendsBytes whether bytes come with the call; callers may say that they send those of an empty file
 * @throws ApiError precondition_failed, unsupported_media_type, invalid_header
 */
export const parseCreationHeaders = (header: GetHeader, sendsBytes: boolean): NewUpload => {
  checkVersion(header('tus-resumable'));
  if (sendsBytes)
    throw new ApiError('unsupported_media_type', 'Open the upload first, then send its bytes.');
  for (const name of ['Upload-Concat', 'Upload-Defer-Length'])
    if (header(name.toLowerCase()) !== undefined) throw invalid(name, 'is not supported.');
  const sizeBytes = parseByteCount('Upload-Length', header);
  const metadata = header('upload-metadata') ?? '';
  const values = parseMetadata(metadata);
  const { filename, visibility, groupId, collection, recordId } = values;
  for (const key of Object.keys(values)) {
    const way = known.has(key) ? undefined : findWay(storageRoutes.refusedWithUploads, key);
    if (way !== undefined) throw invalid('Upload-Metadata', `\`${key}\`: ${way}`);
  }
  const audience = parseAudience(
    {
      visibility: visibility ?? undefined,
      groupId: groupId ?? undefined,
      collection: collection ?? undefined,
      recordId: recordId ?? undefined,
    },
    (field, rule) => invalid('Upload-Metadata', `\`${field}\` ${rule}`),
  );
  return { name: cleanFileName(filename ?? ''), ...audience, sizeBytes, metadata };
};

export interface PartHeaders {
  offset: number;
  /** Undefined in a chunked request. */
  length: number | undefined;
}

/** @throws ApiError precondition_failed, unsupported_media_type, invalid_header */
export const parsePartHeaders = (header: GetHeader): PartHeaders => {
  checkVersion(header('tus-resumable'));
  if (header('content-type') !== bytesType)
    throw new ApiError('unsupported_media_type', `Send the bytes as ${bytesType}.`);
  if (!['identity', undefined].includes(header('content-encoding')))
    throw new ApiError('unsupported_media_type', 'This Content-Encoding is not supported.');
  const length = header('content-length');
  return {
    offset: parseByteCount('Upload-Offset', header),
    length: length === undefined ? undefined : Number(length),
  };
};
