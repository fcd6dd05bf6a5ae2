import { call, type Target } from './api.ts';

interface Page<T> {
  items: T[];
  hasMore: boolean;
  nextCursor: string | null;
}

const maxItems = 10_000;

/** All items of a list of the control plane, 10,000 at most. @throws CallFailed */
export const readAll = async <T extends object>(target: Target, path: string): Promise<T[]> => {
  const items: T[] = [];
  let cursor: string | null = null;
  do {
    const query = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page: Page<T> = await call(target, 'GET', `${path}?limit=1000${query}`);
    items.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null && items.length < maxItems);
  return items;
};

/** The control plane's address of a project. */
export const projectPath = (project: string, rest = ''): string =>
  `/api/platform/projects/${encodeURIComponent(project)}${rest}`;
