import { maxShownBytes } from '@backlot/contract';
import { looksSecret } from '../failure/failed-body.ts';

export type Shown = Record<string, unknown>;

const secretName = /(secret|token|password|passphrase|credential|(^|[a-z])key)$/i;
const hidden = '…';
const maxLevels = 8;

const isObject = (value: unknown): value is Shown =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Without what is secret by its name or by its look. */
const withoutSecrets = (value: unknown, levels = maxLevels): unknown => {
  if (typeof value === 'string') return looksSecret(value) ? hidden : value;
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) return hidden;
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, levels - 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, inside]) => [
      name,
      secretName.test(name) && typeof inside === 'string'
        ? hidden
        : withoutSecrets(inside, levels - 1),
    ]),
  );
};

/** Of an app's user: an audit log outlives them. */
const shownOfUsers = new Set(['id', 'role', 'blocked', 'emailVerified', 'guest', 'revoked', 'ok']);

const ofUser = (value: Shown): Shown =>
  Object.fromEntries(Object.entries(value).filter(([name]) => shownOfUsers.has(name)));

const bounded = (value: Shown): Shown => {
  const sizeBytes = Buffer.byteLength(JSON.stringify(value));
  if (sizeBytes <= maxShownBytes) return value;
  const names = Object.keys(value).map((name) => name.slice(0, 50));
  return { tooLarge: true, sizeBytes, fields: names.slice(0, 50) };
};

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/**
 * Before and after as the audit log shows them: of two objects what differs, without secrets, bounded.
 * @param isOfUser leaves away who an app's user is
 */
export const showChange = (
  before: unknown,
  after: unknown,
  isOfUser: boolean,
): { before: Shown | null; after: Shown | null } => {
  const clean = (value: unknown): Shown | null => {
    if (!isObject(value)) return null;
    return withoutSecrets(isOfUser ? ofUser(value) : value) as Shown;
  };
  const [old, now] = [isObject(before) ? before : null, isObject(after) ? after : null];
  const differs = (name: string) => !old || !now || !isSame(old[name], now[name]);
  const differing = (value: Shown | null) =>
    value && Object.fromEntries(Object.entries(value).filter(([name]) => differs(name)));
  const show = (value: Shown | null) => {
    const shown = clean(differing(value));
    return shown && bounded(shown);
  };
  return { before: show(old), after: show(now) };
};
