import { BacklotError } from '@backlot/client';
import {
  keepPreviousData,
  QueryClient,
  type UseMutationOptions,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { type CallExtras, call } from './call.ts';
import type { Answer, Input, Item, OperationId } from './operation-types.ts';
import { roleRefused, useWhyNot } from './roles.ts';

/** The client of the API has tried again already where that helps. */
export const queryClient = new QueryClient({
  defaultOptions: { queries: { retry: false, staleTime: 10_000 }, mutations: { retry: false } },
});

interface ReadOptions extends Pick<CallExtras, 'as'> {
  enabled?: boolean;
  /** Asks again after this time, while the page is looked at. */
  everyMs?: number;
  /** While the answer to another input is on its way, that from before stays. */
  keepsLast?: boolean;
}

/** An owner's answers are never shown to the operator, nor the other way round. */
const keyFor = (name: string, input: unknown, as: CallExtras['as'], ...more: string[]) => [
  name,
  input,
  ...more,
  ...(as ? [as] : []),
];

/** Forgets what was read with this token. */
export const forgetAnswers = (as: 'operator'): void =>
  queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey.includes(as) });

/** What one's role in the project may not read is not asked for: the reason is its error. */
const useCheckRole = (name: OperationId, as: CallExtras['as']) => {
  const why = useWhyNot()(name);
  return () => {
    if (why !== undefined && as === undefined)
      throw new BacklotError(403, { error: why, code: roleRefused });
  };
};

/** Reads and keeps. The key begins with `[name, input]`. */
export const useCall = <Name extends OperationId>(
  name: Name,
  input: NoInfer<Input<Name>>,
  { enabled = true, everyMs, keepsLast, as }: ReadOptions = {},
) => {
  const checkRole = useCheckRole(name, as);
  return useQuery<Answer<Name>, BacklotError>({
    queryKey: keyFor(name, input, as),
    queryFn: ({ signal }) => {
      checkRole();
      return call<Name>(name, input, { signal, as });
    },
    enabled,
    ...(everyMs !== undefined && { refetchInterval: everyMs }),
    ...(keepsLast && { placeholderData: keepPreviousData }),
  });
};

interface AnyPage {
  hasMore: boolean;
  nextCursor: string | null;
}

/** Reads a list page by page: `items` of all pages so far, `more()` for the next. */
export const usePages = <Name extends OperationId>(
  name: Name,
  input: NoInfer<Input<Name>>,
  { enabled = true, everyMs, keepsLast, as }: ReadOptions = {},
) => {
  const checkRole = useCheckRole(name, as);
  const query = useInfiniteQuery({
    queryKey: keyFor(name, input, as, 'pages'),
    queryFn: ({ signal, pageParam }) => {
      checkRole();
      const { query: asked = {} } = input as unknown as { query?: object };
      const cursor = pageParam === null ? {} : { cursor: pageParam };
      const page: unknown = { ...(input as unknown as object), query: { ...asked, ...cursor } };
      return call<Name>(name, page as never, { signal, as });
    },
    initialPageParam: null as string | null,
    getNextPageParam: (page) => (page as AnyPage).nextCursor,
    enabled,
    ...(everyMs !== undefined && { refetchInterval: everyMs }),
    ...(keepsLast && { placeholderData: keepPreviousData }),
  });
  return {
    items: query.data?.pages.flatMap((page) => (page as { items: Item<Name>[] }).items),
    first: query.data?.pages[0] as Answer<Name> | undefined,
    error: query.error as BacklotError | null,
    isLoading: query.isLoading,
    hasMore: query.hasNextPage,
    isLoadingMore: query.isFetchingNextPage,
    more: () => void query.fetchNextPage(),
    again: () => void query.refetch(),
  };
};

interface ChangeOptions<Name extends OperationId>
  extends Pick<UseMutationOptions<Answer<Name>, BacklotError, Input<Name>>, 'onSuccess'>,
    Pick<CallExtras, 'as'> {
  /** Names of operations whose answers are read anew. */
  changes?: readonly OperationId[];
}

/** A call that changes something: `mutate(input)`; `error` for `Problem`. */
export const useChange = <Name extends OperationId>(
  name: Name,
  { changes = [], as, ...options }: ChangeOptions<Name> = {},
) => {
  const client = useQueryClient();
  return useMutation<Answer<Name>, BacklotError, Input<Name>>({
    mutationFn: (input) => call<Name>(name, input, { as }),
    ...options,
    onSettled: () =>
      Promise.all(changes.map((read) => client.invalidateQueries({ queryKey: [read] }))),
  });
};
