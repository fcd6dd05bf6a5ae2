import { describe, expect, it } from '@jest/globals';
import { MIB } from '../../define-route.ts';
import { costBounds } from '../../prices/prices.ts';
import { appendResumable } from './resumable-uploads.ts';
import { largestUploadBytes } from './upload-fields.ts';

/** Credits that a part of a resumable upload reserves. */
const worstCaseCredits = (
  offset: string | undefined,
  contentLength: number | undefined,
  maxUploadBytes?: number,
) =>
  costBounds(
    appendResumable.price,
    {
      body: undefined,
      contentLength,
      header: (name) => (name === 'upload-offset' ? offset : undefined),
      settings: maxUploadBytes === undefined ? {} : { maxUploadBytes },
    },
    1000,
  ).maxMillicredits / 1000;

describe('a part of a resumable upload reserves', () => {
  it.each([
    ['a file that ends with it', '0', 25 * MIB, undefined, 3],
    ['a file that ends with it', String(20 * MIB), 10 * MIB, undefined, 3],
    ['one credit at least', '0', 0, undefined, 1],
    ['the project’s limit, never more', '0', 60 * MIB, undefined, 5],
    ['the project’s limit, never more', '0', largestUploadBytes, 100 * MIB, 10],
    ['the limit where nothing tells less', '0', undefined, undefined, 5],
    ['the limit where nothing tells less', undefined, 10, undefined, 5],
    ['the limit where nothing tells less', 'x', 10, undefined, 5],
    ['no less than nothing', '-99999999', 10, undefined, 1],
  ])('%s: from %s, %i bytes', (_what, offset, length, limit, credits) => {
    expect(worstCaseCredits(offset, length, limit)).toBe(credits);
  });
});
