import { ApiError, type EventPayloads, type Payload } from '@backlot/contract';
import type { Database, Outbox } from '@backlot/database';
import { fullAccess } from '../collections/access.ts';
import type { Collection, Collections } from '../collections/collections.ts';
import { parsePatch } from '../record/patch.ts';
import type { Records } from '../record/records.ts';
import { inCollection } from '../sql.ts';
import { isPaid } from './items.ts';

type Paid = Payload<'record.paid'>;
type Outcome = Payload<'record.settled'>['outcome'];

export interface PaidRecordsDeps {
  database: Database;
  outbox: Outbox<EventPayloads>;
  collections: Collections;
  records: Records;
}

/** Puts a payment into the record that it is for, once for each record, and answers what became of it. */
export const createPaidRecords = ({ database, outbox, collections, records }: PaidRecordsDeps) => {
  /** The record's `items`, with the record locked; undefined where it is gone. */
  const lockItems = async (collection: Collection, recordId: string) => {
    const { projectNumber, id } = collection;
    const [row] = await database.query<{ items: unknown }>(
      `SELECT data -> 'items' AS items FROM records WHERE ${inCollection} AND id = $3 FOR UPDATE`,
      [projectNumber, id, recordId],
    );
    return row;
  };

  const findPayment = async ({ projectNumber, id }: Collection, recordId: string) => {
    const [row] = await database.query<{ payment_id: string }>(
      'SELECT payment_id FROM paid_records WHERE project_id = $1 AND coll_id = $2 AND record_id = $3',
      [projectNumber, id, recordId],
    );
    return row?.payment_id;
  };

  const write = async (collection: Collection, paid: Paid): Promise<void> => {
    const { projectId, projectNumber, recordId, set, payment } = paid;
    await database.query(
      'INSERT INTO paid_records (project_id, coll_id, record_id, payment_id) VALUES ($1, $2, $3, $4)',
      [projectNumber, collection.id, recordId, payment.id],
    );
    const target = {
      project: { id: projectId, number: projectNumber, name: '', ownerId: null, settings: {} },
      collection,
      access: fullAccess(collection.access),
      id: recordId,
    };
    await records.patchBeyondQuota(target, parsePatch({ data: { ...set, payment } }), ['payment']);
  };

  const settle = async (paid: Paid): Promise<Outcome> => {
    const collection = await collections.find(paid.projectNumber, paid.collection);
    if (!collection) return 'not_found';
    const { recordId, payment, pays = 'items' } = paid;
    const record = await lockItems(collection, recordId);
    if (!record) return 'not_found';
    const earlier = await findPayment(collection, recordId);
    if (earlier !== undefined) return earlier === payment.id ? 'done' : 'already_paid';
    if (!isPaid(pays, record.items, payment)) return 'items_differ';
    try {
      await database.transaction(() => write(collection, paid));
      return 'done';
    } catch (error) {
      if (error instanceof ApiError && error.code === 'invalid_data') return 'too_large';
      if (error instanceof ApiError && error.code === 'not_unique') return 'not_unique';
      if (error instanceof ApiError && error.code === 'schema_mismatch') return 'schema_mismatch';
      throw error;
    }
  };

  return {
    /** May be repeated. The record's lock has several payments for it wait for each other. */
    receive: (paid: Paid): Promise<void> =>
      database.transaction(async () => {
        const outcome = await settle(paid);
        await outbox.append('record.settled', {
          projectId: paid.projectId,
          projectNumber: paid.projectNumber,
          paymentId: paid.payment.id,
          outcome,
        });
      }),
  };
};
