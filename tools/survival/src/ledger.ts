import type { Owner, StackUnderTest } from './stack-under-test.ts';

export interface LedgerLine {
  kind: string;
  amountMillicredits: number;
  /** The call's id; null for what is no call. */
  requestId: string | null;
}

export interface Books {
  balanceMillicredits: number;
  reservedMillicredits: number;
  lines: LedgerLine[];
  debits: LedgerLine[];
}

/** The owner's whole statement. Throws while it can't be told. */
export const readBooks = async (
  { control }: StackUnderTest,
  { token }: Pick<Owner, 'token'>,
): Promise<Books> => {
  const lines: LedgerLine[] = [];
  let cursor = '';
  for (;;) {
    const { status, body } = await control('GET', `/credits?limit=1000${cursor}`, { token });
    if (status !== 200) throw new Error(`/credits answered ${status}: ${body.code}`);
    lines.push(...body.items);
    if (!body.hasMore) {
      const { balanceMillicredits, reservedMillicredits } = body;
      const debits = lines.filter(({ kind }) => kind === 'debit');
      return { balanceMillicredits, reservedMillicredits, lines, debits };
    }
    cursor = `&cursor=${encodeURIComponent(body.nextCursor)}`;
  }
};

export const sumAmounts = (lines: readonly LedgerLine[]): number =>
  lines.reduce((sum, { amountMillicredits }) => sum + amountMillicredits, 0);
