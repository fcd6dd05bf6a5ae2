import { call } from '../../api/call.ts';
import type { Item } from '../../api/operation-types.ts';

export type StoredFile = Item<'listProjectFiles'>;

/** Below our own origin, as the page's policy asks, whatever name the installation has besides. */
const ownPath = (url: string) => {
  const { pathname, search } = new URL(url, location.origin);
  return `${pathname}${search}`;
};

const signedSeconds = 3600;

/** Where the browser itself finds the content: of a private file an address that is good for an hour. @throws BacklotError */
export const openAddress = async (
  projectId: string,
  { id, url, visibility }: StoredFile,
): Promise<string> => {
  if (visibility === 'public') return ownPath(url);
  const signed = await call('signFile', {
    project: projectId,
    params: { id },
    body: { expiresIn: signedSeconds },
  });
  return ownPath(signed.url);
};

/** That of a small square image of a public file. */
export const thumbnailPath = ({ url }: StoredFile): string =>
  `${ownPath(url)}?width=80&height=80&fit=cover`;
export const thumbnailSize = { width: 80, height: 80, fit: 'cover' };
