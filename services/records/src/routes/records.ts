import { ApiError, isUuid, recordRoutes } from '@backlot/contract';
import { hintHeader, JsonText, LargeJson, type RouteOptions, route } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import { type Access, resolveAccess } from '../collections/access.ts';
import { withAdvice } from '../collections/advice.ts';
import { type Collections, unlessGone } from '../collections/collections.ts';
import { recordNotFound } from '../collections/forbidden.ts';
import type { PersonalFields } from '../collections/personal-fields.ts';
import { systemFields } from '../fields.ts';
import { wholePart } from '../list/shown/large-pages.ts';
import { parseShown, type ShownRecords } from '../list/shown/shown-records.ts';
import { idHint } from '../query/hints.ts';
import { CallReader } from '../reader.ts';
import { type CheckedData, checkData, type Data } from '../record/data.ts';
import { checkGroup, withoutGroupId } from '../record/group-field.ts';
import type { NewIds } from '../record/new-ids.ts';
import { parsePatch } from '../record/patch.ts';
import type { Records } from '../record/records.ts';
import type { AcceptedVersions, RecordTarget } from '../record/refusals.ts';
import type { WrittenRecord } from '../record/written-record.ts';
import { type Source, toSource } from '../source.ts';

export const getRecord = (collections: Collections, records: Records, shownRecords: ShownRecords) =>
  route(recordRoutes.getRecord, async (call) => {
    const { params, query, identity } = call;
    const shown = parseShown(query);
    const target = await findTarget(collections, identity, params);
    const reader = new CallReader(call);
    const { json, version, release } = await records.get(target, reader);
    const show = () => shownRecords.one(json, shown, identity, reader);
    const part = await show().catch((error: unknown) => {
      release?.();
      throw error;
    });
    const headers = headersWith(version, target);
    return release
      ? { headers, body: new LargeJson(wholePart(part, release)) }
      : { headers, body: new JsonText(part.toString()) };
  });

export const createRecord = (
  collections: Collections,
  records: Records,
  personal: PersonalFields,
  turns: RouteOptions,
) =>
  route(
    recordRoutes.createRecord,
    async ({ params, body, rawBody, identity, header }, keep) => {
      const checked = parseData(rawBody);
      return unlessGone(async () => {
        const { project } = identity;
        const collection = await collections.findOrCreate(identity, params.collection);
        const source = toSource(identity, header('x-request-id'));
        const access = resolveAccess(collection.access, identity, source);
        const groupId = body.groupId?.toLowerCase();
        checkGroup(access, identity, { project, collection }, groupId);
        const data = { ...withoutOwnFields(checked, rawBody, access), groupId };
        const hints = toHints(droppedHint(rawBody.value), nestedHint(rawBody.value));
        const reply = (created: WrittenRecord) =>
          replyWith(created, { project, collection }, hints);
        const keepReply = keep && ((created: WrittenRecord) => keep(reply(created)));
        const answer = reply(await records.create(project, collection, access, data, keepReply));
        personal.notice(collection, [body.data]);
        return answer;
      });
    },
    { ...turns, hasShortTurns: true, storesAnswer: true },
  );

export const updateRecord = (
  collections: Collections,
  records: Records,
  personal: PersonalFields,
  turns: RouteOptions,
) =>
  route(
    recordRoutes.updateRecord,
    async ({ params, query, rawBody, identity, header }) => {
      const body = rawBody.value as Parameters<typeof parsePatch>[0];
      const patch = parsePatch(body, query.merge === 'deep');
      const source = toSource(identity, header('x-request-id'));
      const target = await findTarget(collections, identity, params, source);
      const ownBody = withoutGroupId(body, target.access);
      const allowed = ownBody === body ? patch : parsePatch(ownBody, query.merge === 'deep');
      const patched = await records.patch(target, allowed, parseIfMatch(header('if-match')));
      personal.notice(target.collection, [body.data]);
      return replyWith(patched, target);
    },
    { ...turns, hasShortTurns: true },
  );

export const replaceRecord = (
  collections: Collections,
  records: Records,
  newIds: NewIds,
  personal: PersonalFields,
  turns: RouteOptions,
) =>
  route(
    recordRoutes.replaceRecord,
    async ({ params, query, body, rawBody, identity, header }) => {
      const data = parseData(rawBody);
      const source = toSource(identity, header('x-request-id'));
      const hints = toHints(nestedHint(rawBody.value));
      const upsert = async () => {
        const collection = await collections.findOrCreate(identity, params.collection);
        const access = resolveAccess(collection.access, identity, source);
        const target = { project: identity.project, collection, access, id: params.id };
        const allowed = withoutOwnFields(data, rawBody, access);
        const refuseId = () => newIds.refusal(identity, params.id);
        const { isNew, ...upserted } = await records.upsert(target, allowed, refuseId);
        personal.notice(collection, [body.data]);
        return { ...replyWith(upserted, target, hints), ...(isNew && { status: 201 as const }) };
      };
      if (isSet(query.upsert) && header('if-match') === undefined) return unlessGone(upsert);
      const replace = async () => {
        const target = await findTarget(collections, identity, params, source);
        const allowed = withoutOwnFields(data, rawBody, target.access);
        const replaced = await records.replace(target, allowed, parseIfMatch(header('if-match')));
        personal.notice(target.collection, [body.data]);
        return replyWith(replaced, target, hints);
      };
      return replace().catch(leadToUpsert);
    },
    { ...turns, hasShortTurns: true },
  );

export const deleteRecord = (collections: Collections, records: Records, turns: RouteOptions) =>
  route(
    recordRoutes.deleteRecord,
    async ({ params, identity, header }) => {
      const source = toSource(identity, header('x-request-id'));
      const target = await findTarget(collections, identity, params, source);
      await records.remove(target, parseIfMatch(header('if-match')));
      return { body: { ok: true as const } };
    },
    { ...turns, hasShortTurns: true },
  );

/** Says how PUT creates, whether the record is missing or hidden. */
const leadToUpsert = (error: unknown): never => {
  if (!(error instanceof ApiError) || error.code !== 'not_found') throw error;
  throw recordNotFound(
    'PUT replaces what is there. To create a record under an id of your own, send ?upsert=1 with a new UUIDv7, or with the id of the user who calls.',
  );
};

/** The record that a path names. @throws ApiError not_found where there is no such collection */
export const findTarget = async (
  collections: Collections,
  identity: Identity,
  { collection: name, id }: { collection: string; id: string },
  source?: Source,
): Promise<RecordTarget> => {
  const collection = await collections.find(identity.project.number, name);
  if (!collection) throw recordNotFound(isUuid(id) ? undefined : idHint(name, id));
  const access = resolveAccess(collection.access, identity, source);
  return { project: identity.project, collection, access, id };
};

const isSet = (flag: string | undefined) => flag === '1' || flag === 'true';

/** The `data` of a body. @throws ApiError invalid_data */
const parseData = ({ value }: { value: unknown }): CheckedData =>
  checkData((value as { data: unknown }).data);

/** The data without what is the record's own in this collection. */
const withoutOwnFields = (
  data: CheckedData,
  { value }: { value: unknown },
  access: Access,
): CheckedData => {
  const sent = value as { data: unknown };
  const allowed = withoutGroupId(sent, access);
  return allowed === sent ? data : checkData(allowed.data);
};

/** The record's own fields are never the client's. */
const droppedHint = (body: unknown): string | undefined => {
  const dropped = systemFields.filter((name) =>
    Object.hasOwn((body as { data: object }).data, name),
  );
  if (dropped.length === 0) return undefined;
  const names = dropped.map((name) => `"${name}"`).join(', ');
  return `Ignored in "data": ${names}, which the server sets. To choose the id: PUT /db/<collection>/<id>?upsert=1 with a UUIDv7.`;
};

/** `{"data":{"data":{}}}`, where somebody adds what the client adds by itself. */
const nestedHint = (body: unknown): string | undefined => {
  const { data } = body as { data: Data };
  const [name, ...others] = Object.keys(data);
  const isNested = name === 'data' && others.length === 0 && Object(data.data) === data.data;
  return isNested
    ? 'The record has a single field, "data", that holds an object. Fields stand in "data" once: {"data":{"title":"x"}}. The client adds it by itself: create({"title":"x"}).'
    : undefined;
};

const toHints = (...hints: (string | undefined)[]): Record<string, string> => {
  const said = hints.filter((hint) => hint !== undefined);
  return said.length === 0 ? {} : { [hintHeader]: said.join(' ') };
};

/** The ETag is strong: equal tags mean equal records. */
const headersWith = (
  version: number,
  place: Pick<RecordTarget, 'project' | 'collection'>,
  hints: Record<string, string> = {},
) => ({ ETag: `"${version.toString(36)}"`, ...withAdvice(hints, place) });

const replyWith = (
  { pieces, version }: WrittenRecord,
  place: Pick<RecordTarget, 'project' | 'collection'>,
  hints: Record<string, string> = {},
) => ({
  body: new JsonText(...pieces),
  headers: headersWith(version, place, hints),
});

/** The last millisecond that ISO 8601 writes with a year of four digits. */
const latestVersion = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * The versions that an If-Match header accepts. A weak tag or one of another form is not ours, so that
 * it matches no version (RFC 9110, section 13.1.1).
 */
const parseIfMatch = (ifMatch: string | undefined): AcceptedVersions => {
  if (ifMatch === undefined || ifMatch.trim() === '*') return undefined;
  return ifMatch.split(',').flatMap((tag) => {
    const [, digits] = /^"([0-9a-z]{1,10})"$/.exec(tag.trim()) ?? [];
    const version = digits === undefined ? Number.NaN : Number.parseInt(digits, 36);
    return version <= latestVersion ? [version] : [];
  });
};
