import type { Grant, LedgerAccountState, Line } from './ledger-account.ts';

export interface LedgerAccountRow {
  number: number;
  owner_id: string;
  balance_millicredits: number;
  seq: number;
  period: string | null;
  used_millicredits: number;
  warned_percent: number;
}

export interface GrantRow {
  id: string;
  amount_millicredits: number;
  remaining_millicredits: number;
  lapsed_millicredits: number;
  expires_at: Date | null;
  period: string | null;
  reason: string;
}

export const toAccountState = (row: LedgerAccountRow): LedgerAccountState => ({
  number: row.number,
  ownerId: row.owner_id,
  balance: row.balance_millicredits,
  seq: row.seq,
  period: row.period,
  used: row.used_millicredits,
  warnedPercent: row.warned_percent,
});

export const toGrant = (row: GrantRow): Grant => ({
  id: row.id,
  amount: row.amount_millicredits,
  remaining: row.remaining_millicredits,
  lapsed: row.lapsed_millicredits,
  expiresAt: row.expires_at?.getTime() ?? null,
  period: row.period,
  reason: row.reason,
});

const time = (ms: number) => new Date(ms).toISOString();

export const lineColumns = (line: Line, at: number) => ({
  id: line.id,
  seq: line.seq,
  kind: line.kind,
  from_account: line.from,
  to_account: line.to,
  amount_millicredits: line.amount,
  grant_id: line.grantId,
  call_id: line.usage?.callId,
  project_number: line.usage?.projectNumber,
  project_id: line.usage?.projectId,
  route: line.usage?.route,
  units: line.usage?.units,
  occurred_at: time(line.usage?.occurredAt ?? at),
});

export const grantColumns = (grant: Grant) => ({
  id: grant.id,
  amount_millicredits: grant.amount,
  remaining_millicredits: grant.remaining,
  lapsed_millicredits: grant.lapsed,
  expires_at: grant.expiresAt === null ? null : time(grant.expiresAt),
  period: grant.period,
  reason: grant.reason,
  reversed_at: grant.reversed ? time(grant.reversed.at) : null,
  reversal_reason: grant.reversed?.reason,
});
