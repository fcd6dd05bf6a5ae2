import { call, type Target } from './api.ts';

interface Page<T> {
  items: T[];
  hasMore: boolean;
  nextCursor: string | null;
}

const maxItems = 10_000;

/** The pages of a list. @param path ends in `?` or `&` @throws CallFailed */
export async function* readPages<T extends object>(
  target: Target,
  path: string,
): AsyncGenerator<T[]> {
  let cursor: string | null = null;
  do {
    const query = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page: Page<T> = await call(target, 'GET', `${path}limit=1000${query}`);
    yield page.items;
    cursor = page.nextCursor;
  } while (cursor !== null);
}

/** All items of a list of the control plane, 10,000 at most. @throws CallFailed */
export const readAll = async <T extends object>(target: Target, path: string): Promise<T[]> => {
  const items: T[] = [];
  for await (const page of readPages<T>(target, `${path}?`)) {
    items.push(...page);
    if (items.length >= maxItems) break;
  }
  return items;
};

/** The control plane's address of a project. */
export const projectPath = (project: string, rest = ''): string =>
  `/api/platform/projects/${encodeURIComponent(project)}${rest}`;
