/** A record's own fields beside the client's data. */
export const systemFields = ['id', 'ownerId', 'createdAt', 'updatedAt'] as const;
export type SystemField = (typeof systemFields)[number];

const system: ReadonlySet<string> = new Set(systemFields);
export const isSystemField = (name: string): name is SystemField => system.has(name);

/** docs/api.md, "Records": data is at most this deep, so a longer path matches nothing. */
export const maxDepth = 16;

/** Why a client's text can't be a field name in a filter or sort; undefined when it can. */
export const pathProblem = (name: string): string | undefined => {
  if (!isStorableText(name)) return 'holds NUL or half a surrogate pair';
  const segments = name.split('.');
  if (segments.length > maxDepth) return `has more than ${maxDepth} levels`;
  if (segments.some((segment) => segment.startsWith('$')))
    return 'has a level that starts with "$"';
  return undefined;
};

/** `post+user` and `post,user`, where one field is named. */
const joinedNames = /^[\w.]+\s*[+,]\s*[\w.]+/;
export const severalNamed = (name: string): string | undefined =>
  joinedNames.test(name) ? 'names several fields; send each by itself' : undefined;

/** jsonb stores any text without NUL and half surrogate pairs. */
export const isStorableText = (text: string): boolean =>
  text.isWellFormed() && !text.includes('\0');

/** Why a client's text can't be a key of a record; undefined when it can. */
export const keyProblem = (key: string): string | undefined => {
  if (key === '__proto__') return 'is not allowed as a key';
  if (key.startsWith('$')) return 'starts with "$", which keys may not';
  if (key.includes('.')) return 'has a ".", which keys may not';
  if (!isStorableText(key)) return 'holds NUL or half a surrogate pair';
  return undefined;
};

/** A segment that can also be a position in an array: as MongoDB has it, without leading zeros. */
export const isPosition = (segment: string): boolean => /^(0|[1-9]\d{0,8})$/.test(segment);
