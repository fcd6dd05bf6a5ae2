import { setImmediate as nextTurn } from 'node:timers/promises';
import { type AccountDirectory, ApiError } from '@backlot/contract';
import type { Access } from '../../collections/access.ts';
import type { WriteAction } from '../../collections/forbidden.ts';
import { patternSteps, SchemaCheck } from '../../schema/check.ts';
import type { CompiledSchema, ServerValue } from '../../schema/compiled-schema.ts';
import { fillDefaults } from '../../schema/fill.ts';
import { toIso } from '../../timestamps.ts';
import type { ResultCheck } from '../change/change.ts';
import { type CheckedData, checkData } from '../data.ts';
import { type Patch, patchAction } from '../patch.ts';
import type { RecordTarget } from '../refusals.ts';
import { checkPatch, withoutUndeclared } from './check-patch.ts';
import { createReferenceChecks, type ReferenceChecksDeps } from './references.ts';
import { keptCheck, openCheck, refuseProblems } from './result-checks.ts';

/** Of whose writes. */
export type Writing = Pick<RecordTarget, 'project' | 'collection' | 'access'>;

/** Of a batch: what each operation becomes. */
export interface BatchWrites {
  create: readonly CheckedData[];
  update: readonly { id: string; patch: Patch }[];
}

export interface WriteChecks {
  /** What a new record gets: with defaults, and what the server writes. @throws ApiError schema_mismatch */
  created(writing: Writing, data: CheckedData): Promise<CheckedData>;
  /** What takes the place of a record's data. @throws ApiError schema_mismatch */
  replaced(
    writing: Writing,
    data: CheckedData,
  ): Promise<{ data: CheckedData; resultCheck?: ResultCheck | undefined }>;
  /**
   * @param undeclared fields that need not stand in the schema
   * @returns what only the record decides
   * @throws ApiError schema_mismatch
   */
  patched(
    writing: Writing,
    patch: Patch,
    undeclared?: readonly string[],
  ): Promise<ResultCheck | undefined>;
  /** All operations at once. @returns the new records, and what only the others decide, by their ids */
  batch(
    writing: Writing,
    writes: BatchWrites,
  ): Promise<{ create: readonly CheckedData[]; resultChecks: ReadonlyMap<string, ResultCheck> }>;
}

export interface WriteChecksDeps extends ReferenceChecksDeps {
  accounts: Pick<AccountDirectory, 'findAccount'>;
  /** Epoch milliseconds. */
  now: () => number;
}

type Values = Partial<Record<ServerValue, unknown>>;

/** A field that the caller may not set is not theirs to fill: what it has stays. */
const limitedFields = ({ fields: { hidden, frozen } }: Access): ReadonlyMap<string, boolean> =>
  new Map([...hidden, ...frozen].map(({ field, policy }) => [field, policy === 'none']));

const withValue = (data: CheckedData, value: Readonly<Record<string, unknown>>): CheckedData =>
  value === data.value ? data : { ...checkData(value), groupId: data.groupId, given: data.given };

export const createWriteChecks = (deps: WriteChecksDeps): WriteChecks => {
  const { accounts, now } = deps;
  const checkReferences = createReferenceChecks(deps);

  const findName = async ({ project, access: { userId } }: Writing) => {
    if (userId === null) return undefined;
    const account = await accounts.findAccount(project.number, userId).catch((cause: unknown) => {
      throw new ApiError('unavailable', 'Your name can not be looked up right now. Try again.', {
        cause,
        retryAfterSeconds: 2,
      });
    });
    return account?.name ?? undefined;
  };

  const serverValues = async (writing: Writing, schema: CompiledSchema): Promise<Values> => {
    const isAsked = (value: ServerValue) => schema.serverFields.some((field) => field[1] === value);
    return {
      owner: writing.access.userId ?? undefined,
      now: toIso(now()),
      'caller.name': isAsked('caller.name') ? await findName(writing) : undefined,
    };
  };

  /** Ends a check. @throws ApiError schema_mismatch */
  const settle = async (check: SchemaCheck, writing: Writing): Promise<void> => {
    if (check.references.length > 0) await checkReferences(writing, check);
    refuseProblems(check, writing);
  };

  const fillNew = (
    check: SchemaCheck,
    { root, serverFields }: CompiledSchema,
    data: CheckedData,
    common: Values,
  ): CheckedData => {
    const { given } = data;
    const values = given ? { ...common, owner: given.ownerId ?? undefined } : common;
    const missing = serverFields.filter(
      ([field, value]) => !data.has(field) && values[value] !== undefined,
    );
    const written = missing.map(([field, value]) => [field, values[value]] as const);
    const filled = fillDefaults(root, data.value);
    const value = written.length > 0 ? { ...filled, ...Object.fromEntries(written) } : filled;
    check.fields(root, value);
    check.missing(root, (field) => Object.hasOwn(value, field));
    return withValue(data, value);
  };

  return {
    async created(writing, data) {
      const { schema } = writing.collection;
      if (!schema) return data;
      const check = new SchemaCheck();
      const filled = fillNew(check, schema, data, await serverValues(writing, schema));
      await settle(check, writing);
      return filled;
    },

    async replaced(writing, data) {
      const { schema } = writing.collection;
      if (!schema || isRefused(writing, 'change')) return { data };
      const { root } = schema;
      const limited = limitedFields(writing.access);
      const value = fillDefaults(root, data.value, (field) => limited.has(field));
      const check = new SchemaCheck();
      check.fields(root, value);
      const isThere = (field: string) => Object.hasOwn(value, field);
      check.missing(root, (field) => isThere(field) || limited.has(field));
      await settle(check, writing);
      const kept = (root.required ?? []).filter(
        (field) => !isThere(field) && limited.get(field) === false,
      );
      return { data: withValue(data, value), resultCheck: keptCheck(kept, writing) };
    },

    async patched(writing, patch, undeclared = []) {
      const { schema } = writing.collection;
      if (!schema || isRefused(writing, patchAction(writing.access, patch))) return undefined;
      const check = new SchemaCheck();
      const { root } = schema;
      const open = checkPatch(check, root, withoutUndeclared(root, patch, undeclared));
      await settle(check, writing);
      return openCheck(root, open, writing);
    },

    async batch(writing, { create, update }) {
      const { schema } = writing.collection;
      if (!schema) return { create, resultChecks: new Map() };
      const check = new SchemaCheck({ operations: create.length + update.length });
      const rest = restBetween(check);
      const values = create.length > 0 ? await serverValues(writing, schema) : {};
      const created: CheckedData[] = [];
      for (const [index, data] of create.entries()) {
        check.operation = `create[${index}]`;
        created.push(fillNew(check, schema, data, values));
        await rest();
      }
      const resultChecks = new Map<string, ResultCheck>();
      for (const [index, { id, patch }] of update.entries()) {
        if (isRefused(writing, patchAction(writing.access, patch))) continue;
        check.operation = `update[${index}]`;
        const open = checkPatch(check, schema.root, patch);
        const resultCheck = openCheck(schema.root, open, writing, check.operation);
        if (resultCheck) resultChecks.set(id, resultCheck);
        await rest();
      }
      await settle(check, writing);
      return { create: created, resultChecks };
    },
  };
};

/** Lets others go on where patterns have taken as long as one call may. */
const restBetween = (check: SchemaCheck) => {
  let before = check.stepsLeft;
  return async () => {
    if (before - check.stepsLeft < patternSteps) return;
    before = check.stepsLeft;
    await nextTurn();
  };
};

/** What a caller may not do anyway is refused as that, and tells nothing of the schema. */
const isRefused = ({ access }: Writing, action: WriteAction): boolean =>
  access.rights[action] === 'none';
