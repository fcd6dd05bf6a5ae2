import type { AcceptedVersions } from './change.ts';

/** A strong entity tag: equal tags mean equal records. */
export const etagOf = (version: number): string => `"${version.toString(36)}"`;

/**
 * The versions that an If-Match header accepts. A weak or foreign tag is none of ours, so that it
 * matches no version (RFC 9110, section 13.1.1).
 */
export const acceptedVersions = (ifMatch: string | undefined): AcceptedVersions => {
  if (ifMatch === undefined || ifMatch.trim() === '*') return undefined;
  return ifMatch.split(',').flatMap((tag) => {
    const [, digits] = /^"([0-9a-z]{1,10})"$/.exec(tag.trim()) ?? [];
    const version = digits === undefined ? Number.NaN : Number.parseInt(digits, 36);
    return version <= latestVersion ? [version] : [];
  });
};

/** The last millisecond that a JavaScript date can hold as ISO 8601 with a year of four digits. */
const latestVersion = Date.UTC(9999, 11, 31, 23, 59, 59, 999);
