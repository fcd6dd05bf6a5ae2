import type { Identity } from '@backlot/identity';
import { uuidv7 } from 'uuidv7';
import { createEmailShares } from '../../record/shares/email-shares.ts';
import type { TestBed } from '../test-bed.ts';
import type { Operation, OperationOf } from './arbitrary-calls.ts';
import { type Answer, type Model, ok } from './model.ts';
import type { Data, Stored, StoredShare } from './words.ts';

const ownFields = new Set(['id', 'ownerId', 'groupId', 'createdAt', 'updatedAt']);
const withoutSystemFields = (record: object): object =>
  Object.fromEntries(
    Object.entries(record)
      .filter(([name]) => !ownFields.has(name))
      .map(([name, value]) => [
        name,
        typeof value === 'object' ? withoutSystemFields(value) : value,
      ]),
  );

export type Call = (method: string, path: string, body?: object) => ReturnType<TestBed['call']>;

const toQuery = (parts: Record<string, string | undefined>): string => {
  const given = Object.entries(parts).filter(([, value]) => value !== undefined);
  return new URLSearchParams(given as [string, string][]).toString();
};

const toWhere = (where: OperationOf<'count'>['where']) =>
  where && JSON.stringify({ [where[0]]: where[1] });

const toShown = ({ shown, includes }: Pick<OperationOf<'get'>, 'shown' | 'includes'>) => ({
  fields: shown?.join(),
  include: includes ? 'other:others' : undefined,
});

const list = async (call: Call, operation: OperationOf<'list'>): Promise<Answer> => {
  const { where, group, sort, search, inPages } = operation;
  const query = {
    where: toWhere(where),
    group,
    search,
    sort: sort?.join(''),
    ...toShown(operation),
    total: '1',
    limit: inPages ? '2' : undefined,
  };
  const items: object[] = [];
  let cursor: string | undefined;
  for (;;) {
    const { status, body } = await call('GET', `?${toQuery({ ...query, cursor })}`);
    if (status !== 200) return { status };
    items.push(...body.items.map(withoutSystemFields));
    if (!body.hasMore) return ok({ items, total: body.total });
    cursor = body.nextCursor;
  }
};

const toRecord = (
  identity: Identity,
  id: string,
  { data, groupId = null }: { data: Data; groupId?: string | null | undefined },
): Stored => {
  const ownerId = identity.caller === 'user' ? identity.userId : null;
  return { id, ownerId, groupId, shares: [], data };
};

const writeBatch = async (
  call: Call,
  identity: Identity,
  model: Pick<Model, 'pick' | 'records'>,
  { which, other, patch, data, groupId }: OperationOf<'batch'>,
): Promise<Answer> => {
  const [updated, deleted] = [model.pick(which)?.id, model.pick(other)?.id];
  const { status, body } = await call('POST', '/_batch', {
    create: [{ data, groupId }],
    update: updated ? [{ id: updated, ...patch }] : [{}],
    delete: [deleted],
  });
  if (status === 200) model.records.push(toRecord(identity, body.create[0].id, { data, groupId }));
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
  model: Pick<Model, 'pick' | 'records'>,
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
    case 'aggregate': {
      const { where, by, measures } = operation;
      const query = toQuery({ where: toWhere(where), group: by, ...Object.fromEntries(measures) });
      const { status, body } = await call('GET', `/_aggregate?${query}`);
      return status === 200 ? ok(body.groups) : { status };
    }
    case 'create': {
      const { data, groupId } = operation;
      const { status, body } = await call('POST', '', { data, groupId });
      if (status !== 201) return { status };
      model.records.push(toRecord(identity, body.id, { data, groupId }));
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
      if (status !== (isNew ? 201 : 200)) return { status };
      if (isNew) model.records.push(toRecord(identity, body.id, { data }));
      return { status, body: withoutSystemFields(body) };
    }
    case 'patch':
    case 'put': {
      const sent = operation.kind === 'patch' ? operation.patch : { data: operation.data };
      const path = pathTo(operation.which);
      const { status, body } = await call(operation.kind.toUpperCase(), path, sent);
      return status === 200 ? ok(withoutSystemFields(body)) : { status };
    }
  }
};
