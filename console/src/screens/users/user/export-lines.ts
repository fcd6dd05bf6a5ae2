import { call } from '../../../api/call.ts';

interface Page {
  items: readonly object[];
  nextCursor: string | null;
}
type Read = (cursor: string | undefined) => Promise<Page>;

const limit = 200;

/** All that is kept of a user, a line of JSON for each thing, as `backlot users export` writes it. @throws BacklotError */
export const exportLines = async (
  projectId: string,
  userId: string,
  { signal, onLines }: { signal: AbortSignal; onLines(count: number): void },
): Promise<Blob> => {
  const extras = { signal };
  const account = await call('exportUser', { params: { projectId, userId } }, extras);
  const params = { projectId };
  const { email } = account.user;
  const mails: [kind: string, read: Read][] =
    email === null
      ? []
      : [
          [
            'mail',
            (cursor) => call('listEmails', { params, query: { email, limit, cursor } }, extras),
          ],
        ];
  const lists: [kind: string, read: Read][] = [
    [
      'record',
      (cursor) =>
        call(
          'listOwnedRecords',
          { params: { projectId, userId }, query: { limit, cursor } },
          extras,
        ),
    ],
    [
      'file',
      (cursor) =>
        call('listProjectFiles', { params, query: { owner: userId, limit, cursor } }, extras),
    ],
    ...mails,
    [
      'payment',
      (cursor) => call('listPayments', { params, query: { user: userId, limit, cursor } }, extras),
    ],
  ];
  // As one piece for each page: a Blob may lie on the disk.
  let all = new Blob([`${JSON.stringify({ kind: 'account', ...account })}\n`]);
  let count = 1;
  for (const [kind, read] of lists) {
    let cursor: string | undefined;
    do {
      const page = await read(cursor);
      const lines = page.items.map((item) => `${JSON.stringify({ kind, ...item })}\n`);
      all = new Blob([all, ...lines]);
      count += lines.length;
      onLines(count);
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
  }
  return all;
};
