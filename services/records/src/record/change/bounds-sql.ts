import type { Parameters } from '../../sql.ts';
import type { Update } from './change.ts';
import { sideGrowthSql } from './side-effects.ts';

/** Holds where a document is larger than it may be, and than it was. */
export const tooLargeSql = (document: string, maxBytes: number, parameters: Parameters): string =>
  `octet_length((${document})::text) > greatest(${parameters.add(maxBytes, 'int8')}, size_bytes)`;

/** What `where` matches, unless the record, or what is kept beside it, would be larger than there is room for. */
export const withinBounds = (
  change: Update,
  where: string,
  document: string,
  parameters: Parameters,
): string => {
  const { maxBytes } = change;
  const roomBytes = change.by?.roomBytes;
  const bounds: string[] = [];
  if (roomBytes !== undefined) {
    const sides = sideGrowthSql(change, document, parameters);
    const growth = [`octet_length((${document})::text) - size_bytes`, ...sides].join(' + ');
    bounds.push(`${growth} <= ${parameters.add(roomBytes, 'int8')}`);
  }
  if (maxBytes !== undefined) bounds.push(`NOT ${tooLargeSql(document, maxBytes, parameters)}`);
  if (bounds.length === 0) return where;
  return `${where} AND CASE WHEN ${where} THEN ${bounds.join(' AND ')} ELSE false END`;
};
