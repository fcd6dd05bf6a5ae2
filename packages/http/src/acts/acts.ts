import { AsyncLocalStorage } from 'node:async_hooks';
import { isAct, type PlatformActed, type RouteDefinition, targetFor } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import type { Call } from '../call/call.ts';
import type { FindReader } from './readers.ts';
import { showChange } from './show-act.ts';

/** Where acts are noted: with the change, in its transaction. */
export interface ActLog {
  transaction<T>(work: () => Promise<T>): Promise<T>;
  /** Acts of one name go one after the other, each until its transaction ends. */
  lock(name: string): Promise<void>;
  append(act: Omit<PlatformActed, 'id' | 'at' | 'service'>): Promise<void>;
}

/** What a handler knows better than the route: for whom it was, and what there was and is. */
export interface ActDetails {
  projectId?: string;
  ownerId?: string | null;
  before?: unknown;
  after?: unknown;
}

interface OpenAct {
  /** Undefined while the route's own transaction notes it at its end. */
  append: ((details: ActDetails) => Promise<void>) | undefined;
  details: ActDetails;
}

const open = new AsyncLocalStorage<OpenAct>();

/**
 * Adds to what the audit log says of the call under way. A handler whose route says `notesItself` calls it within the
 * transaction that decides: the line is stored there. Outside of a call it does nothing.
 */
export const noteAct = async (details: ActDetails): Promise<void> => {
  const act = open.getStore();
  if (!act) return;
  Object.assign(act.details, details);
  await act.append?.(act.details);
};

type ActCall = Pick<Call<RouteDefinition>, 'identity' | 'params' | 'query' | 'body' | 'header'>;

const isTrial = ({ query, body }: ActCall): boolean => {
  const { dryRun } = { ...(query as object | undefined) } as { dryRun?: unknown };
  const { dryRun: inBody } = { ...(body as object | undefined) } as { dryRun?: unknown };
  return dryRun === '1' || dryRun === 'true' || inBody === true;
};

const textIn = (value: unknown, name: string): string | undefined => {
  const found = (value as Record<string, unknown> | undefined)?.[name];
  return typeof found === 'string' ? found : undefined;
};

/** A call about no project is in the built-in one: there the owner is who calls, or who is named. */
const findOwner = ({ identity, params, body }: ActCall): string | null =>
  textIn(params, 'ownerId') ??
  textIn(body, 'ownerId') ??
  identity.project.ownerId ??
  (identity.caller === 'owner' ? identity.userId : null);

const describeCaller = (identity: Identity): PlatformActed['actor'] => {
  const { operator, memberRole } = identity;
  return {
    kind: identity.caller,
    userId: identity.userId,
    keyId: identity.keyId,
    operator: operator?.name ?? null,
    memberRole: memberRole ?? null,
  };
};

const describeCall = (definition: RouteDefinition, call: ActCall) => ({
  action: definition.operationId,
  projectId: textIn(call.params, 'projectId') === undefined ? null : call.identity.project.id,
  ownerId: findOwner(call),
  target: targetFor(definition, call.params),
  actor: describeCaller(call.identity),
  address: call.identity.ip,
  userAgent: call.identity.userAgent ?? null,
  requestId: (call.header('x-request-id') ?? '').slice(0, 200),
});

const isOfUser = ({ path }: RouteDefinition) => path.includes('/users/:userId');

export interface Act {
  /** Does the work and notes it, in one transaction. @param toBody of the work's answer */
  around<T>(work: () => Promise<T>, toBody: (done: T) => unknown): Promise<T>;
  /** The work notes itself, by `noteAct`. */
  within<T>(work: () => Promise<T>): Promise<T>;
}

/** Undefined where the call changes nothing of the control plane. */
export const openAct = (
  log: ActLog | undefined,
  findReader: FindReader,
  definition: RouteDefinition,
  call: ActCall,
): Act | undefined => {
  if (!log || !isAct(definition) || isTrial(call)) return undefined;
  const append = async (details: ActDetails) => {
    const { before, after, projectId, ownerId } = details;
    const described = describeCall(definition, call);
    await log.append({
      ...described,
      ...(projectId !== undefined && { projectId }),
      ...(ownerId !== undefined && { ownerId }),
      ...showChange(before, after, isOfUser(definition)),
    });
  };
  const read = findReader(definition);
  return {
    within: (work) => open.run({ append, details: {} }, work),
    around: (work, toBody) =>
      log.transaction(async () => {
        const act: OpenAct = { append: undefined, details: {} };
        if (read) await log.lock(`${call.identity.project.number} ${read.name}`);
        const before = await read?.read(call);
        const done = await open.run(act, work);
        const body = toBody(done);
        const after = read ? ((await read.read(call)) ?? null) : body;
        await append({ before, after, ...act.details });
        return done;
      }),
  };
};
