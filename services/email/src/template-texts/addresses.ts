import type { AppOrigins } from './app-origins.ts';
import type { Tag } from './language.ts';
import type { Markers } from './markers.ts';

const valueType = ({ type }: Tag) => (typeof type === 'object' ? type.type : type);

/** Nothing of a value gets before the path. */
const upToPath = /^https?:\/\/[^\s/\\?#@]+\//i;
const writesOrCalls = /^(mailto|tel):\S+$/i;

/**
 * What is wrong with an address in a template; undefined where it leads to the app whatever its values are: one
 * value of the type url, or an origin of the app followed by a path that may hold ids.
 */
export const addressProblem = (
  attribute: string,
  value: string,
  markers: Markers,
  app: AppOrigins,
): string | undefined => {
  const inside = markers.find(value);
  const [only] = inside;
  if (only && markers.isAlone(value))
    return valueType(only) === 'url'
      ? undefined
      : `"${only.name}" must be of the type url to be an address`;
  if (inside.length === 0 && attribute === 'href' && writesOrCalls.test(value)) return undefined;
  const literal = inside.length === 0 ? value : (upToPath.exec(value)?.[0] ?? '');
  if (literal.includes('\\') || !URL.canParse(literal) || !app.has(new URL(literal)))
    return `${attribute}="${markers.show(value)}" leads to no origin of the app (${app.names.join(', ') || 'it has none'})`;
  const other = inside.find((tag) => valueType(tag) !== 'id' && valueType(tag) !== 'number');
  return other && `"${other.name}" must be of the type id or number to be part of an address`;
};

/** Where an address leads whose values are still to come; undefined where a value says it, or it is no page's. */
export const originIn = (value: string, markers: Markers): string | undefined => {
  const literal = markers.find(value).length === 0 ? value : (upToPath.exec(value)?.[0] ?? '');
  return URL.canParse(literal) && !writesOrCalls.test(literal)
    ? new URL(literal).origin
    : undefined;
};
