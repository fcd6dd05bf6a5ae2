import type { Identity } from '@backlot/identity';
import { uuidv7 } from 'uuidv7';
import { createEmailShares } from '../../record/shares/email-shares.ts';
import type { TestBed } from '../test-bed.ts';
import { type Answer, ok } from './answers.ts';
import type { Operation, OperationOf, Patch } from './arbitrary-calls.ts';
import type { Model } from './model.ts';
import {
  type Call,
  exportLines,
  list,
  toQuery,
  toShown,
  toWhere,
  withoutSystemFields,
} from './send-lists.ts';
import type { Data, Stored, StoredShare } from './words.ts';

const toRecord = (
  identity: Identity,
  id: string,
  { data, groupId = null }: { data: Data; groupId?: string | null | undefined },
): Stored => {
  const ownerId = identity.caller === 'user' ? identity.userId : null;
  return { id, ownerId, groupId, shares: [], data };
};

const named = ['schema_mismatch', 'limit_reached'];

const failed = ({ status, body }: { status: number; body: { code?: string } }): Answer =>
  body.code !== undefined && named.includes(body.code) ? { status, code: body.code } : { status };

const toBody = ({ data, unset, inc }: Patch) => ({ data, unset, inc });

const writeBatch = async (
  call: Call,
  identity: Identity,
  model: Pick<Model, 'pick' | 'records' | 'filled'>,
  { which, other, patch, data, groupId }: OperationOf<'batch'>,
): Promise<Answer> => {
  const [updated, deleted] = [model.pick(which)?.id, model.pick(other)?.id];
  const { status, body } = await call('POST', '/_batch', {
    create: [{ data, groupId }],
    update: updated ? [{ id: updated, ...toBody(patch) }] : [{}],
    delete: [deleted],
  });
  if (status !== 200) return failed({ status, body });
  model.records.push(
    toRecord(identity, body.create[0].id, { data: model.filled(identity, data), groupId }),
  );
  return { status };
};

/** Calls below the collection that the model is of. */
export const callThings =
  (bed: TestBed, identity: Identity): Call =>
  (method, path, body) =>
    bed.call(method, `/db/things${path}`, { identity, ...(body && { body }) });

/** As the accounts' service tells it. */
export const proveAddress =
  ({ database }: TestBed, { project }: Identity) =>
  ({ userId, email }: OperationOf<'prove'>): Promise<void> =>
    createEmailShares(database, { findHolder: async () => userId }).take({
      projectNumber: project.number,
      userId,
      email,
    });

/** What the service answers, as the model puts it. Records that are made are added to the model. */
export const send = async (
  call: Call,
  identity: Identity,
  model: Pick<Model, 'pick' | 'records' | 'filled'>,
  operation: Operation,
  prove: ReturnType<typeof proveAddress>,
): Promise<Answer> => {
  const pathTo = (which: number) => `/${model.pick(which)?.id ?? 'none'}`;
  switch (operation.kind) {
    case 'list':
      return list(call, operation);
    case 'count': {
      const { where, group, search } = operation;
      const query = toQuery({ where: toWhere(where), group, search });
      const { status, body } = await call('GET', `/_count?${query}`);
      return status === 200 ? ok(body.count) : { status };
    }
    case 'export':
      return exportLines(call, operation);
    case 'aggregate': {
      const { where, by, measures, distinct, having, inOrder } = operation;
      const query = toQuery({
        where: toWhere(where),
        group: by.length > 0 ? by.join(',') : undefined,
        distinct,
        having: having === undefined ? undefined : JSON.stringify({ count: { $gt: having } }),
        sort: inOrder ? [...by, 'count'].join(',') : undefined,
        ...Object.fromEntries(measures),
      });
      const { status, body } = await call('GET', `/_aggregate?${query}`);
      return status === 200 ? ok(body.groups) : { status };
    }
    case 'create': {
      const { data, groupId } = operation;
      const { status, body } = await call('POST', '', { data, groupId });
      if (status !== 201) return failed({ status, body });
      model.records.push(
        toRecord(identity, body.id, { data: model.filled(identity, data), groupId }),
      );
      return { status, body: withoutSystemFields(body) };
    }
    case 'batch':
      return writeBatch(call, identity, model, operation);
    case 'shares': {
      const { status, body } = await call('GET', `${pathTo(operation.which)}/_shares`);
      if (status !== 200) return { status };
      return ok(
        body.items.map(({ createdAt, ...share }: StoredShare & { createdAt: string }) => share),
      );
    }
    case 'share':
    case 'invite': {
      const { kind, which, ...share } = operation;
      const { status } = await call('PUT', `${pathTo(which)}/_shares`, share);
      return status === 200 ? ok(share) : { status };
    }
    case 'unshare':
    case 'disinvite': {
      const who = operation.kind === 'unshare' ? operation.userId : operation.email;
      const { status } = await call('DELETE', `${pathTo(operation.which)}/_shares/${who}`);
      return { status };
    }
    case 'prove':
      await prove(operation);
      return { status: 200 };
    case 'get': {
      const path = `${pathTo(operation.which)}?${toQuery(toShown(operation))}`;
      const { status, body } = await call('GET', path);
      return status === 200 ? ok(withoutSystemFields(body)) : { status };
    }
    case 'delete': {
      const { status } = await call('DELETE', pathTo(operation.which));
      return { status };
    }
    case 'upsert': {
      const { which, isNew, data } = operation;
      const path = isNew ? `/${uuidv7()}` : pathTo(which);
      const { status, body } = await call('PUT', `${path}?upsert=1`, { data });
      if (status !== (isNew ? 201 : 200)) return failed({ status, body });
      if (isNew)
        model.records.push(toRecord(identity, body.id, { data: model.filled(identity, data) }));
      return { status, body: withoutSystemFields(body) };
    }
    case 'patch':
    case 'put': {
      const isPatch = operation.kind === 'patch';
      const sent = isPatch ? toBody(operation.patch) : { data: operation.data };
      const isDeep = isPatch && operation.patch.isDeep;
      const path = `${pathTo(operation.which)}${isDeep ? '?merge=deep' : ''}`;
      const { status, body } = await call(operation.kind.toUpperCase(), path, sent);
      return status === 200 ? ok(withoutSystemFields(body)) : failed({ status, body });
    }
  }
};
