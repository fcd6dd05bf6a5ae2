import type { ServerResponse } from 'node:http';
import { ApiError, type RouteDefinition } from '@backlot/contract';
import { nearestName, printable } from './nearest-name.ts';
import { findUnknownNames, type UnknownName } from './unknown-names.ts';

export const hintHeader = 'Backlot-Hint';
const maxHintLength = 500;

/** `"fliter" (did you mean "filter"?)`, in printable ASCII. */
const describe = ({ path, known }: UnknownName): string => {
  const nearest = nearestName(path.slice(path.lastIndexOf('.') + 1), known);
  return `"${printable(path)}"${nearest === undefined ? '' : ` (did you mean "${nearest}"?)`}`;
};

const listKnown = ([first]: readonly UnknownName[]) =>
  first && first.known.length > 0
    ? `Known here: ${first.known.join(', ')}.`
    : 'None is known here.';

/** For `?column=todo`, which others understand as a filter. */
const filterHint = ([first]: readonly UnknownName[], query: Record<string, unknown>) => {
  if (!first?.known.includes('where') || nearestName(first.path, first.known)) return undefined;
  const filter = JSON.stringify({ [printable(first.path)]: printable(String(query[first.path])) });
  return `To filter by a field, send where=${filter}, URL-encoded.`;
};

export interface Input {
  query: Record<string, unknown>;
  /** Nobody has validated it. */
  body: unknown;
}

/**
 * What a request holds beyond what its route knows is refused, or named in a header of the answer.
 * @throws ApiError invalid_query, invalid_body
 */
export const checkUnknownInput = (
  { query, body, unknownQuery = 'refused', unknownBody = 'refused' }: RouteDefinition,
  input: Input,
  res: ServerResponse,
): void => {
  const inQuery = () => findUnknownNames(query, input.query).filter(({ path }) => path !== '_');
  const inBody = () => (body ? findUnknownNames(body, input.body) : []);
  const places = [
    { find: inQuery, policy: unknownQuery, code: 'invalid_query', what: 'query parameter' },
    { find: inBody, policy: unknownBody, code: 'invalid_body', what: 'field' },
  ] as const;
  const ignored: string[] = [];
  for (const { find, policy, code, what } of places) {
    const names = policy === 'ignored' ? [] : find();
    if (names.length === 0) continue;
    const text = `${what}: ${names.map(describe).join(', ')}. ${listKnown(names)}`;
    if (policy === 'refused') {
      const hint = filterHint(names, input.query);
      throw new ApiError(code, `Unknown ${text}`, hint === undefined ? {} : { hint });
    }
    ignored.push(`Ignored ${text}`);
  }
  if (ignored.length > 0) res.setHeader(hintHeader, ignored.join(' ').slice(0, maxHintLength));
};

/** A handler's own hint follows what was said of unknown names. */
export const addHint = (res: ServerResponse, headers: Record<string, string>) => {
  const before = res.getHeader(hintHeader);
  const own = headers[hintHeader];
  if (own === undefined || before === undefined) return headers;
  return { ...headers, [hintHeader]: `${before} ${own}`.slice(0, maxHintLength) };
};
