import type { Database } from '@backlot/database';
import { type Page, type PageQuery, presentPage, readPosition } from '@backlot/http';
import type { Line } from './account/ledger-account.ts';

interface LineRow {
  balance_millicredits: number;
  line_id: string | null;
  seq: number;
  kind: Line['kind'] | 'refund';
  signed_millicredits: number;
  project_id: string | null;
  call_id: string | null;
  route: string | null;
  grant_id: string | null;
  reason: string | null;
  created_at: Date;
}

export interface CreditHistoryItem {
  id: string;
  kind: LineRow['kind'];
  /** Signed: all of an owner's items sum to the balance. */
  amountMillicredits: number;
  projectId: string | null;
  /** Of the priced call; the ledger has one debit for it. */
  requestId: string | null;
  route: string | null;
  /** Of a grant, of what has expired of it, and of its reversal. */
  grantId: string | null;
  /** Of a grant and of its reversal. */
  reason: string | null;
  createdAt: string;
}

const present = (row: LineRow): CreditHistoryItem => ({
  id: row.line_id ?? '',
  kind: row.kind,
  amountMillicredits: row.signed_millicredits,
  projectId: row.project_id,
  requestId: row.call_id,
  route: row.route,
  grantId: row.grant_id,
  reason: row.reason,
  createdAt: row.created_at.toISOString(),
});

const isLineNumber = (id: string) => /^\d{1,15}$/.test(id);

export const createCreditHistory = (database: Database) => ({
  /**
   * An owner's lines, newest first, and the balance of the same instant; empty where there is no account.
   * @throws ApiError invalid_cursor
   */
  async list(
    ownerId: string,
    query: PageQuery,
  ): Promise<Page<CreditHistoryItem> & { balanceMillicredits: number }> {
    // A line's number is its place in the list: clocks of several processes may differ.
    const list = `credits of ${ownerId}`;
    const after = readPosition(list, query.cursor, isLineNumber);
    const rows = await database.named<LineRow>(
      'credit-history',
      `SELECT balance_millicredits, line.*
         FROM accounts LEFT JOIN LATERAL (
           SELECT transfers.id AS line_id, transfers.seq, transfers.kind, project_id, call_id, route, grant_id,
                  CASE transfers.kind WHEN 'grant' THEN reason WHEN 'correction' THEN reversal_reason END AS reason,
                  transfers.created_at,
                  CASE WHEN to_account = transfers.owner_account THEN transfers.amount_millicredits
                       ELSE -transfers.amount_millicredits END
                    AS signed_millicredits
             FROM transfers LEFT JOIN grants ON grants.id = grant_id
            WHERE transfers.owner_account = accounts.number AND ($2::int8 IS NULL OR transfers.seq < $2)
            ORDER BY transfers.seq DESC LIMIT $3) line ON true
        WHERE owner_id = $1 ORDER BY line.seq DESC`,
      [ownerId, after?.id ?? null, query.limit + 1],
    );
    const lines = rows
      .filter((row) => row.line_id !== null)
      .map((row) => ({ ...row, id: String(row.seq) }));
    return {
      balanceMillicredits: rows[0]?.balance_millicredits ?? 0,
      ...presentPage(list, query, lines, present),
    };
  },
});
