import type { Visibility } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { anonymous, asKey, asUser } from '@backlot/testing';
import fc from 'fast-check';
import { userA, userB } from './test-bed.ts';

const [red, blue] = [
  '018f0000-0000-7000-8000-0000000000e1',
  '018f0000-0000-7000-8000-0000000000e2',
];
const inGroup = (userId: string, id: string, role: string) =>
  asUser(userId, { groups: [{ id, role }] });
export const callers = {
  anonymous: anonymous(),
  ada: asUser(userA),
  adaInRed: inGroup(userA, red, 'member'),
  bob: asUser(userB),
  bobInRed: inGroup(userB, red, 'viewer'),
  bobLeadsBlue: inGroup(userB, blue, 'admin'),
  key: asKey(),
} satisfies Record<string, Identity>;

/** As it was uploaded. */
export interface Stored {
  id: string;
  ownerId: string | null;
  visibility: Visibility;
  groupId: string | null;
  isDeleted: boolean;
}

const which = fc.nat(20);
const groupId = fc.constantFrom(red, blue);
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const operation = <Kind extends string, Parts extends object>(
  kind: Kind,
  parts: { [Name in keyof Parts]: fc.Arbitrary<Parts[Name]> },
) => fc.record<{ kind: Kind } & Parts>({ kind: fc.constant(kind), ...parts } as never);
const upload = operation('upload', {
  visibility: optional(fc.constantFrom<Visibility>('public', 'private')),
  groupId: optional(groupId),
});
const operations = fc.oneof(
  { arbitrary: upload, weight: 3 },
  { arbitrary: operation('get', { which, isSigned: fc.boolean() }), weight: 3 },
  // Of a text, which is none: who may see it is told so.
  operation('image', { which }),
  operation('sign', { which }),
  operation('delete', { which }),
  operation('list', { group: optional(groupId) }),
);
export type Operation = typeof operations extends fc.Arbitrary<infer T> ? T : never;
const callerName = fc.constantFrom(...(Object.keys(callers) as (keyof typeof callers)[]));
export const steps = fc.array(fc.tuple(callerName, operations), { minLength: 8, maxLength: 16 });

/** The rules in a few lines, as docs/api.md has them. */
const runsProject = ({ caller }: Identity) => caller === 'key';
const isUploader = ({ caller, userId }: Identity, { ownerId }: Stored) =>
  caller === 'user' && userId === ownerId;
const roleIn = ({ groups = [] }: Identity, groupId: string | null) =>
  groups.find(({ id }) => id === groupId)?.role;
const isTheirs = (who: Identity, file: Stored) =>
  runsProject(who) ||
  (file.groupId === null ? isUploader(who, file) : roleIn(who, file.groupId) !== undefined);
const sees = (who: Identity, file: Stored) =>
  !file.isDeleted && (file.visibility === 'public' || isTheirs(who, file));
const mayDelete = (who: Identity, file: Stored) =>
  isTheirs(who, file) &&
  (runsProject(who) || isUploader(who, file) || roleIn(who, file.groupId) === 'admin');

export type Answer = { status: number; ids?: string[] };

/** @param files newest last */
export const expectedAnswer = (files: Stored[], who: Identity, operation: Operation): Answer => {
  const refused = { status: who.caller === 'anonymous' ? 401 : 403 };
  if (operation.kind === 'upload') {
    const { groupId } = operation;
    const mayName = groupId === undefined || runsProject(who) || roleIn(who, groupId);
    return mayName ? { status: 201 } : refused;
  }
  if (operation.kind === 'list') {
    const { group } = operation;
    if (who.caller !== 'user') return refused;
    if (group !== undefined && roleIn(who, group) === undefined) return { status: 404 };
    const isListed = (file: Stored) =>
      group === undefined ? isUploader(who, file) : file.groupId === group;
    const listed = files.filter((file) => isListed(file) && sees(who, file));
    return { status: 200, ids: listed.map(({ id }) => id).reverse() };
  }
  const file = files[operation.which % Math.max(1, files.length)];
  const isChange = operation.kind === 'sign' || operation.kind === 'delete';
  if (isChange && who.caller === 'anonymous') return refused;
  const isOpen = operation.kind === 'get' && operation.isSigned && file?.isDeleted === false;
  if (!file || !(isOpen || sees(who, file))) return { status: 404 };
  switch (operation.kind) {
    case 'get':
      return { status: 200 };
    case 'image':
      return { status: 400 };
    case 'sign':
      return isTheirs(who, file) ? { status: 200 } : refused;
    case 'delete':
      if (!mayDelete(who, file)) return refused;
      file.isDeleted = true;
      return { status: 200 };
  }
};
