import type { CallLogItem } from '@backlot/contract';

export interface CallFilter {
  /** failed, 4xx or 404. */
  status?: string | undefined;
  /** A part of the path or of the route. */
  path?: string | undefined;
  method?: string | undefined;
  userId?: string | undefined;
}

const statusRange = (status: string): [number, number] => {
  if (status === 'failed') return [400, 599];
  const hundred = Number(status[0]) * 100;
  return status.endsWith('xx') ? [hundred, hundred + 99] : [Number(status), Number(status)];
};

/** Whether a stream tells of it. Gaps are missing calls of any kind. */
export const fitsCall = (
  item: CallLogItem,
  { status, path, method, userId }: CallFilter,
): boolean => {
  if (item.type === 'gap') return true;
  const [least, most] = status === undefined ? [0, 999] : statusRange(status);
  return (
    item.status >= least &&
    item.status <= most &&
    (path === undefined || item.path.includes(path) || item.route?.includes(path) === true) &&
    (method === undefined || item.method === method) &&
    (userId === undefined || item.userId === userId.toLowerCase())
  );
};

/** The same in SQL, of the columns of `call_lines`. @param add answers the place of a value: $3 */
export const fitsCallSql = (
  { status, path, method, userId }: CallFilter,
  add: (value: unknown) => string,
): string => {
  const conditions: string[] = [];
  if (status !== undefined) {
    const [least, most] = statusRange(status);
    conditions.push(`(item->>'status')::int BETWEEN ${add(least)} AND ${add(most)}`);
  }
  if (path !== undefined) {
    const part = add(path);
    conditions.push(`(strpos(item->>'path', ${part}) > 0 OR strpos(item->>'route', ${part}) > 0)`);
  }
  if (method !== undefined) conditions.push(`item->>'method' = ${add(method)}`);
  if (userId !== undefined) conditions.push(`user_id = ${add(userId)}`);
  if (conditions.length === 0) return 'true';
  return `(item->>'type' = 'gap' OR (${conditions.join(' AND ')}))`;
};
