import { ApiError, type ErrorCode } from '@backlot/contract';
import type { Database } from '@backlot/database';
import { checkChange, checkCreate } from '../collections/access.ts';
import { checkFilled, checkSent } from '../collections/new-fields.ts';
import { hasConditions } from '../collections/terms/terms.ts';
import type { Changes } from './changes.ts';
import type { CheckedData } from './data.ts';
import { isHidden, type RecordTarget } from './refusals.ts';
import type { WriteChecks } from './schema/write-checks.ts';
import type { WrittenRecord } from './written-record.ts';

/** @param refuseId why a new record may not have the id; undefined where it may */
export type Upsert = (
  target: RecordTarget,
  data: CheckedData,
  refuseId: () => Promise<ApiError | undefined>,
) => Promise<WrittenRecord & { isNew: boolean }>;

export interface UpsertDeps {
  database: Database;
  checks: WriteChecks;
  /** Undefined where the id is taken. */
  insert(
    target: RecordTarget,
    data: CheckedData,
    options: { isIdChosen: true },
  ): Promise<WrittenRecord | undefined>;
  replace: Changes['replace'];
}

const isRefusedAs = (code: ErrorCode, error: unknown) =>
  error instanceof ApiError && error.code === code;
/** An upsert is tried again where what was in its way has gone by the time it is looked for. */
const maxTries = 3;

/** Of a new record, where one that is there may be replaced all the same. */
const refusesNew = [
  'quota_reached',
  'limit_reached',
  'rate_limited',
  'forbidden',
  'unauthenticated',
  'not_unique',
] as const;
const isRefused = (error: unknown) => refusesNew.some((code) => isRefusedAs(code, error));

/** Creates a record, or replaces the one that is there: whichever the caller may. */
export const createUpsert = ({ database, checks, insert, replace }: UpsertDeps): Upsert => {
  /** Undefined where what was in its way is gone, be it a record or the lack of one. */
  const tryUpsert = async (
    ...[target, data, refuseId]: Parameters<Upsert>
  ): Promise<Awaited<ReturnType<Upsert>> | undefined> => {
    const { id, access } = target;
    const { create } = access.rights;
    const mayAdmit = create === 'all' || hasConditions(create);
    if (!mayAdmit) checkChange(access);
    let refusal: unknown = mayAdmit ? await refuseId() : undefined;
    let made = { ...data, id };
    if (mayAdmit && refusal === undefined) {
      try {
        checkSent(access, data, target);
        const newTarget = { ...target, id: id.toLowerCase() };
        made = { ...(await checks.created(newTarget, data)), id };
        checkFilled(access, data, made, target);
        const created = await insert(newTarget, made, { isIdChosen: true });
        if (created) return { ...created, isNew: true };
      } catch (error) {
        // What is there already may be replaced by something smaller, or has the field already.
        if (!isRefused(error)) throw error;
        refusal = error;
      }
    }
    try {
      return { ...(await replace(target, data, undefined)), isNew: false };
    } catch (error) {
      if (!isRefusedAs('not_found', error)) throw error;
      checkCreate(access, target, made);
      if (refusal !== undefined) throw refusal;
      if (!mayAdmit || (await isHidden(database, target))) throw error;
      return undefined;
    }
  };

  return async (target, data, refuseId) => {
    for (let tries = 0; tries < maxTries; tries++) {
      const written = await tryUpsert(target, data, refuseId);
      if (written) return written;
    }
    throw new ApiError('conflict', 'This record changes too often just now. Try again.');
  };
};
