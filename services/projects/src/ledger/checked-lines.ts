import type { Database } from '@backlot/database';

/** An account at one instant, and up to which of its lines all was found right before. */
export interface AccountLines {
  number: number;
  balance_millicredits: number;
  /** Of the newest line. */
  seq: number;
  /** 0: all lines have to be read. */
  checked_seq: number;
  checked_millicredits: number;
}

export interface LineSum {
  count: number;
  millicredits: number;
}

/** Of each owner in one statement. */
const linesAtOnce = 10_000;

const isWhole = ({ checked_seq: checked }: AccountLines) => checked === 0;

/**
 * Counts and sums accounts' lines: only those after what was found right before, and all of them where that
 * does not add up. Lines up to a number never change and are never added, so no lock is taken.
 */
export const createCheckedLines = (database: Database, now: () => number) => {
  const addNew = async (accounts: readonly AccountLines[], sums: Map<number, LineSum>) => {
    let lines = 0;
    for (const { number, checked_seq: count, checked_millicredits: millicredits } of accounts)
      sums.set(number, { count, millicredits });
    for (let from = 0; ; from += linesAtOnce) {
      const open = accounts.filter(({ seq, checked_seq: checked }) => checked + from < seq);
      if (open.length === 0) return lines;
      const rows = await database.query<{ owner_account: number } & LineSum>(
        `SELECT owner_account, count(*),
                sum(CASE WHEN to_account = owner_account THEN amount_millicredits ELSE -amount_millicredits END)::int8 AS millicredits
           FROM unnest($1::int8[], $2::int8[], $3::int8[]) AS book (number, after, until)
           JOIN transfers ON owner_account = number AND transfers.seq > after AND transfers.seq <= until
          GROUP BY owner_account`,
        [
          open.map(({ number }) => number),
          open.map(({ checked_seq: checked }) => checked + from),
          open.map(({ seq, checked_seq: checked }) => Math.min(seq, checked + from + linesAtOnce)),
        ],
      );
      for (const { owner_account: number, count, millicredits } of rows) {
        const sum = sums.get(number);
        if (!sum) continue;
        sum.count += count;
        sum.millicredits += millicredits;
        lines += count;
      }
    }
  };

  const remember = (accounts: readonly AccountLines[]) =>
    database.query(
      `INSERT INTO checked_lines (owner_account, seq, sum_millicredits, read_whole_at)
       SELECT number, seq, millicredits, $4::timestamptz FROM unnest($1::int8[], $2::int8[], $3::int8[]) AS found (number, seq, millicredits)
       ON CONFLICT (owner_account) DO UPDATE
         SET seq = excluded.seq, sum_millicredits = excluded.sum_millicredits,
             read_whole_at = CASE WHEN excluded.owner_account = ANY($5::int8[]) THEN excluded.read_whole_at
                                  ELSE checked_lines.read_whole_at END
       WHERE checked_lines.seq <= excluded.seq`,
      [
        accounts.map(({ number }) => number),
        accounts.map(({ seq }) => seq),
        accounts.map(({ balance_millicredits: balance }) => balance),
        new Date(now()).toISOString(),
        accounts.filter(isWhole).map(({ number }) => number),
      ],
    );

  return {
    /** Count and sum of each account's lines up to its `seq`; `lines` is how many were read for it. */
    async sum(accounts: readonly AccountLines[]) {
      const sums = new Map<number, LineSum>();
      let lines = await addNew(accounts, sums);
      const isRight = ({ number, seq, balance_millicredits: balance }: AccountLines) => {
        const found = sums.get(number);
        return found?.count === seq && found.millicredits === balance;
      };
      const again = accounts
        .filter((account) => !isRight(account) && !isWhole(account))
        .map((account) => ({ ...account, checked_seq: 0, checked_millicredits: 0 }));
      lines += await addNew(again, sums);
      const read = new Map([...accounts, ...again].map((account) => [account.number, account]));
      const right = [...read.values()].filter(
        (account) => isRight(account) && account.seq > account.checked_seq,
      );
      if (right.length > 0) await remember(right);
      return { sums, lines };
    },
  };
};
