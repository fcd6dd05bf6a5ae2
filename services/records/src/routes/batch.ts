import { ApiError, recordRoutes } from '@backlot/contract';
import { type Call, type RouteOptions, route } from '@backlot/http';
import { type Access, resolveAccess } from '../collections/access.ts';
import { type Collections, unlessGone } from '../collections/collections.ts';
import type { PersonalFields } from '../collections/personal-fields.ts';
import type { Batches } from '../record/batch/batch.ts';
import { type BatchOperations, inOperation } from '../record/batch/operations.ts';
import { checkData } from '../record/data.ts';
import { checkGroup, withoutGroupId } from '../record/group-field.ts';
import { parsePatch } from '../record/patch.ts';
import { toSource } from '../source.ts';

/** @param turns of batches: one may take a hundred times as long as one write */
export const writeBatch = (
  collections: Collections,
  batches: Batches,
  personal: PersonalFields,
  turns: RouteOptions,
) =>
  route(
    recordRoutes.writeBatch,
    async ({ params, rawBody, identity, header }) => {
      const body = rawBody.value as RawBody;
      const operations = parseOperations(body);
      return unlessGone(async () => {
        const collection = await collections.findOrCreate(identity, params.collection);
        const source = toSource(identity, header('x-request-id'));
        const access = resolveAccess(collection.access, identity, source);
        const { project } = identity;
        for (const [index, { groupId }] of operations.create.entries()) {
          try {
            checkGroup(access, identity, { project, collection }, groupId);
          } catch (error) {
            throw inOperation(`create[${index}]`, error);
          }
        }
        const allowed = access.compiled.uses.group
          ? parseOperations(withoutGroupIds(body, access))
          : operations;
        const written = await batches.write(project, collection, access, allowed);
        const { create = [], update = [] } = body;
        personal.notice(
          collection,
          [...create, ...update].map(({ data }) => data),
        );
        return { body: written };
      });
    },
    turns,
  );

/** As it came: validation drops a `__proto__` key without a word, where data has to name it. */
type RawBody = Partial<Call<typeof recordRoutes.writeBatch>['body']>;

const withoutGroupIds = ({ create = [], update = [], ...rest }: RawBody, access: Access) => ({
  create: create.map((made) => withoutGroupId(made, access)),
  update: update.map((change) => withoutGroupId(change, access)),
  ...rest,
});

/** @throws ApiError invalid_body, invalid_data */
const parseOperations = (body: RawBody): BatchOperations => {
  const operations = {
    create: parseAll('create', body.create, ({ data, groupId }) => ({
      ...checkData(data),
      groupId: groupId?.toLowerCase(),
    })),
    update: parseAll('update', body.update, ({ id, ...patch }) => ({
      id: id.toLowerCase(),
      patch: parsePatch(patch),
    })),
    delete: parseAll('delete', body.delete, (id) => id.toLowerCase()),
  };
  const seen = new Set<string>();
  for (const id of [...operations.update.map((update) => update.id), ...operations.delete]) {
    if (seen.has(id)) throw new ApiError('invalid_body', `The record ${id} is changed twice.`);
    seen.add(id);
  }
  return operations;
};

const parseAll = <Given, Parsed>(
  kind: string,
  given: readonly Given[] | undefined,
  parse: (operation: Given) => Parsed,
): Parsed[] =>
  (given ?? []).map((operation, index) => {
    try {
      return parse(operation);
    } catch (error) {
      throw inOperation(`${kind}[${index}]`, error);
    }
  });
