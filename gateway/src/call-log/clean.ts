import { parse } from 'node:querystring';
import type { RouteDefinition } from '@backlot/contract';
import { listValues, looksSecret, toNetwork, withoutSecrets, withoutValues } from '@backlot/http';
import { LRUCache } from 'lru-cache';

const maxPathLetters = 300;
const maxSentenceLetters = 400;
const maxHostLetters = 100;
const maxQueryLetters = 8192;
const maxParameters = 100;

const hidden = '…';
const isUuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const isPlain = /^[A-Za-z0-9_.~-]{1,64}$/;

/** Cut, with that it was. */
const cut = (text: string, letters: number) =>
  text.length > letters ? `${text.slice(0, letters - 1)}${hidden}`.toWellFormed() : text;

/** Without what would move the cursor of a terminal or turn the text around it. */
const printable = (text: string) =>
  text.toWellFormed().replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu, ' ');

/** A segment of a path that belongs to a parameter of its route. */
const showParameter = (name: string, segment: string): string => {
  if (isUuid.test(segment)) return segment;
  const isShown = name === 'collection' || name === 'id' || name === 'projectId';
  return isShown && isPlain.test(segment) && !looksSecret(segment) ? segment : `:${name}`;
};

const decode = (segment: string) => {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
};

/** Of a path that is of no route: where somebody has typed wrong. */
const showSegment = (segment: string): string => {
  const decoded = decode(segment);
  return looksSecret(decoded) || decoded.includes('@') ? hidden : segment;
};

/** A call's path for the log: its route with the collection and ids; what could be a secret is "…". */
export const showPath = (
  path: string,
  route: Pick<RouteDefinition, 'path' | 'plane'> | undefined,
): string => {
  const segments = path.slice(0, 2 * maxPathLetters).split('/');
  if (!route) return cut(printable(segments.map(showSegment).join('/')), maxPathLetters);
  const shown = route.path
    .split('/')
    .map((part, at) => (part[0] === ':' ? showParameter(part.slice(1), segments[at] ?? '') : part));
  const base = route.plane === 'platform' ? '/api/platform' : '';
  return cut(base + shown.join('/'), maxPathLetters);
};

const parseValue = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/** Values of a query, as they were sent and as they are meant, and those inside of filters. */
export const listQueryValues = (search: string): string[] => {
  const text = search.slice(1, maxQueryLetters);
  const sent = text.split('&', maxParameters).map((pair) => pair.slice(pair.indexOf('=') + 1));
  const meant = Object.values(parse(text, '&', '=', { maxKeys: maxParameters })).flat();
  return [...sent, ...meant.flatMap((value = '') => [value, ...listValues(parseValue(value))])];
};

/** A sentence of a failure without values of the call. */
export const showSentence = (text: string, values: readonly string[]): string =>
  cut(printable(withoutSecrets(withoutValues(text, values))), maxSentenceLetters);

const mostRemembered = 500;

/** Calls of an app come from a few origins and addresses; parsing them is half of what a line costs. */
const remember = <T>(compute: (text: string) => T): ((text: string) => T) => {
  const known = new LRUCache<string, { value: T }>({ max: mostRemembered });
  return (text) => {
    const found = known.get(text);
    if (found) return found.value;
    const value = compute(text);
    known.set(text, { value });
    return value;
  };
};

/** The network of an address: of IPv4 24 bits, of IPv6 48. */
export const showAddress = remember((address: string) => toNetwork(address) ?? 'unknown');

const parseOrigin = remember((origin: string): string | null => {
  const url = URL.parse(origin);
  if (!url || !/^https?:$/.test(url.protocol)) return null;
  return looksSecret(url.hostname) ? null : cut(url.host, maxHostLetters);
});

/** Host of an origin; null for none and for what is no origin of the web. */
export const showOrigin = (origin: string | undefined): string | null =>
  origin === undefined || origin.length > 2 * maxHostLetters ? null : parseOrigin(origin);
