import type { ServerResponse } from 'node:http';
import { ApiError, type RouteDefinition } from '@backlot/contract';
import { nearestName, plain, printable } from './nearest-name.ts';
import { findUnknownNames, namesIn, type UnknownName } from './unknown-names.ts';

export const hintHeader = 'Backlot-Hint';
const maxHintLength = 500;
/** Of unknown names, in one message. */
const maxNamed = 5;

const lastName = (path: string) => path.slice(path.lastIndexOf('.') + 1);

/** `"fliter" (did you mean "filter"?)`, in printable ASCII. */
const describe = ({ path, known }: UnknownName): string => {
  const nearest = nearestName(lastName(path), known);
  return `"${printable(path)}"${nearest === undefined ? '' : ` (did you mean "${nearest}"?)`}`;
};

const listKnown = ([first]: readonly UnknownName[]) =>
  first && first.known.length > 0
    ? `Known here: ${first.known.join(', ')}.`
    : 'None is known here.';

/** `priority[gte]` and `priority__gte`, `gte.2`: how others write a comparison. */
const comparedName = /^(.+?)(?:\[\$?(eq|ne|gte?|lte?)\]|__(eq|ne|gte?|lte?))$/;
/** `where[done]`, as qs writes objects. */
const insideWhere = /^(?:where|filters?)\[([^[\]]+)\](?=\[|$)/;
const comparedValue = /^(eq|ne|gte?|lte?)\.(.*)$/s;
const credentialName = /^((api|access|auth|secret)[_-]?)?(key|token|jwt)$|^authorization$/i;
const literal = /^(true|false|null|-?(0|[1-9]\d{0,14})(\.\d{1,9})?)$/;

const toCondition = (sentName: string, sentValue: string): [string, unknown] => {
  const plainName = sentName.replace(insideWhere, '$1');
  const [, name = plainName, ...operators] = comparedName.exec(plainName) ?? [];
  const [, before, text = sentValue] = comparedValue.exec(sentValue) ?? [];
  const operator = operators.find((found) => found !== undefined) ?? before ?? 'eq';
  const value = literal.test(text) ? JSON.parse(text) : printable(text);
  return [printable(name), operator === 'eq' ? value : { [`$${operator}`]: value }];
};

/** For `?done=true`, which others understand as a filter. */
const filterHint = (names: readonly UnknownName[], query: Record<string, unknown>) => {
  const fields = names.filter(
    ({ path, known }) => known.includes('where') && nearestName(path, known) === undefined,
  );
  if (fields.length === 0) return undefined;
  if (fields.some(({ path }) => credentialName.test(path)))
    return 'A token or a key goes into the header Authorization: Bearer <token>.';
  const conditions = fields.map(({ path }) => toCondition(path, String(query[path])));
  const filter = JSON.stringify(Object.fromEntries(conditions));
  return `To filter by a field, send where=${filter}, URL-encoded.`;
};

/** What a variable leaves in an address that was empty, or no text. */
const leftByVariables = new Set(['undefined', 'null', 'NaN', '[object Object]']);

const pathHints = ({ method, path }: RouteDefinition, params: Record<string, unknown>) =>
  Object.entries(params)
    .filter(([, value]) => leftByVariables.has(String(value)))
    .map(([name, value]) => {
      const place = `${method} ${path.replace(/:(\w+)/g, '<$1>')}`;
      return `The path has "${value}" in place of <${name}>: ${place}. Was a variable empty, or an object?`;
    });

const findOwn = (texts: RouteDefinition['elsewhere'], name: string) =>
  texts && Object.hasOwn(texts, name) ? texts[name] : undefined;

/** What a route's `refuses` says of a name, in whatever spelling. */
export const findWay = (refuses: Readonly<Record<string, string>>, name: string) =>
  Object.entries(refuses).find(([refused]) => plain(refused) === plain(name))?.[1];

/** Why an unknown name may not be passed over, where it changes what the call does. */
const findRefusal = (
  { refuses = {}, body, takes }: RouteDefinition,
  { path }: UnknownName,
  isInQuery: boolean,
): string | undefined => {
  const name = plain(lastName(path));
  const way = findWay(refuses, name);
  if (way !== undefined || !isInQuery || !namesIn(body).some((field) => plain(field) === name))
    return way;
  return `"${printable(path)}" goes into the ${takes === 'multipart' ? 'form' : 'body'}.`;
};

export interface Input {
  params: Record<string, unknown>;
  query: Record<string, unknown>;
  /** Nobody has validated it. */
  body: unknown;
}

/**
 * What a request holds beyond what its route knows is refused, or named in a header of the answer.
 * @throws ApiError invalid_query, invalid_body
 */
export const checkUnknownInput = (
  definition: RouteDefinition,
  input: Input,
  res: ServerResponse,
): void => {
  const { query, body, unknownQuery = 'refused', unknownBody = 'refused' } = definition;
  const inQuery = () => findUnknownNames(query, input.query).filter(({ path }) => path !== '_');
  const inBody = () => (body ? findUnknownNames(body, input.body) : []);
  const places = [
    { find: inQuery, policy: unknownQuery, code: 'invalid_query', what: 'query parameter' },
    { find: inBody, policy: unknownBody, code: 'invalid_body', what: 'field' },
  ] as const;
  const hints = pathHints(definition, input.params);
  for (const { find, policy, code, what } of places) {
    const names = policy === 'ignored' ? [] : find();
    if (names.length === 0) continue;
    const refused = names.flatMap((name) => {
      const way = findRefusal(definition, name, code === 'invalid_query');
      return way === undefined ? [] : [{ name, way }];
    });
    const told =
      policy === 'hinted' && refused.length > 0 ? refused.map(({ name }) => name) : names;
    const said = told.flatMap(({ path }) => findOwn(definition.elsewhere, path) ?? []);
    const text = `${what}: ${told.slice(0, maxNamed).map(describe).join(', ')}. ${listKnown(told)}`;
    if (policy === 'refused' || refused.length > 0) {
      const ways = [...new Set(refused.map(({ way }) => way)), ...said];
      const hint = filterHint(names, input.query) ?? ways.join(' ');
      throw new ApiError(code, `Unknown ${text}`, hint === '' ? {} : { hint });
    }
    hints.push(`Ignored ${text}`, ...said);
  }
  if (hints.length > 0) res.setHeader(hintHeader, hints.join(' ').slice(0, maxHintLength));
};

/** A handler's own hint follows what was said of unknown names. */
export const addHint = (res: ServerResponse, headers: Record<string, string>) => {
  const before = res.getHeader(hintHeader);
  const own = headers[hintHeader];
  if (own === undefined || before === undefined) return headers;
  return { ...headers, [hintHeader]: `${before} ${own}`.slice(0, maxHintLength) };
};
