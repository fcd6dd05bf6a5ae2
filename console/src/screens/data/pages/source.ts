import { call } from '../../../api/call.ts';
import type { Input } from '../../../api/operation-types.ts';
import type { CollectionSearch } from '../collection/address.ts';
import type { Row } from './cell-values.ts';
import type { PageSource } from './page-source.ts';

/** What is shown of which collection. */
export interface Shown {
  projectId: string;
  collection: string;
  search: { [K in 'where' | 'search' | 'sort' | 'as']?: CollectionSearch[K] | undefined };
  /** Names of fields; undefined: all. */
  fields?: string | undefined;
}

export const viewAs = (as: string | undefined): { headers?: Record<string, string> } =>
  as === undefined ? {} : { headers: { 'Backlot-View-As': as } };

/** `-price,title` becomes `price,-title`; newest first is what a list has without it. */
export const reverseSort = (sort: string | undefined): string =>
  sort === undefined
    ? 'createdAt'
    : sort
        .split(',')
        .map((field) => (field.startsWith('-') ? field.slice(1) : `-${field}`))
        .join(',');

/** The list as a call of the API. */
export const listInput = ({
  projectId,
  collection,
  search,
  fields,
}: Shown): Input<'listRecords'> => {
  const { where, search: words, sort } = search;
  return {
    project: projectId,
    params: { collection },
    query: {
      ...(where && { where: where as never }),
      ...(words !== undefined && { search: words }),
      ...(sort !== undefined && { sort }),
      ...(fields !== undefined && { fields }),
    },
  };
};

export const createSource = (shown: Shown): PageSource => {
  const { projectId, collection, search } = shown;
  const list = listInput(shown);
  const as = viewAs(search.as);
  return {
    // What search finds comes best first, which has no other end.
    isReversible: search.search === undefined || search.sort !== undefined,
    async read({ isReverse, cursor, limit, isPassedOver }, signal) {
      const query = {
        ...list.query,
        limit,
        ...(isReverse && { sort: reverseSort(search.sort) }),
        ...(cursor !== undefined && { cursor }),
        ...(isPassedOver && { fields: 'id' }),
      };
      const { items, nextCursor } = await call(
        'listRecords',
        { ...list, query },
        { ...as, signal },
      );
      return { items: items as Row[], nextCursor };
    },
    count(signal) {
      const { where, search: words } = search;
      return call(
        'countRecords',
        {
          project: projectId,
          params: { collection },
          query: {
            ...(where && { where: where as never }),
            ...(words !== undefined && { search: words }),
          },
        },
        { ...as, signal },
      );
    },
  };
};
