import type { IncomingMessage } from 'node:http';
import { ApiError, recordRoutes, type UserDirectory } from '@backlot/contract';
import { discardBody, LargeJson, type RouteOptions, route } from '@backlot/http';
import { CollectionGone, type Collections } from '../collections/collections.ts';
import { isSystemField } from '../fields.ts';
import { parseMine, selectRecords } from '../query/selection.ts';
import { CallReader } from '../reader.ts';
import { toSource } from '../source.ts';
import { idTimeMs } from '../timestamps.ts';
import { parseColumns } from '../transfer/export/columns.ts';
import type { Exports } from '../transfer/export/exports.ts';
import { createSameCaller } from '../transfer/export/same-caller.ts';
import { parseTypes } from '../transfer/import/column-types.ts';
import { isUuidV7 } from '../transfer/import/given-fields.ts';
import type { Imports } from '../transfer/import/imports.ts';
import { parseWhere } from '../where/parse.ts';

interface ExportDeps {
  collections: Collections;
  exports: Exports;
  users: UserDirectory;
  now: () => number;
}

export const exportRecords = ({ collections, exports, users, now }: ExportDeps) =>
  route(recordRoutes.exportRecords, async (call) => {
    const { params, query, identity } = call;
    const { format, after } = query;
    const { project } = identity;
    const where = parseWhere(query.where);
    const ownerId = parseMine(query.mine, identity);
    const columns = parseColumns(query.fields);
    let known: number | undefined;
    const checkCaller = createSameCaller(users, identity, now);
    const select = async () => {
      await checkCaller();
      const collection = await collections.find(project.number, params.collection);
      known ??= collection?.id;
      if (!collection || collection.id !== known) throw new CollectionGone();
      const asked = { where, group: query.group, ownerId };
      return selectRecords(collection, identity, asked).selection;
    };
    const parts = exports.open(select, { format, columns, after }, new CallReader(call));
    const headers = {
      'Content-Type': `${recordRoutes.lineTypes[format]}; charset=utf-8`,
      'Content-Disposition': `attachment; filename="${params.collection}.${format}"`,
    };
    return { headers, body: new LargeJson(parts) };
  });

const isSet = (flag: string | undefined) => flag === '1' || flag === 'true';

type Format = keyof typeof recordRoutes.lineTypes;

/** What the query says, or else the Content-Type. @throws ApiError unsupported_media_type */
const findFormat = (said: Format | undefined, contentType = ''): Format => {
  if (said) return said;
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  if (type === recordRoutes.lineTypes.csv) return 'csv';
  if (/^application\/(x-ndjson|ndjson|jsonl|x-jsonlines|json-seq)$/.test(type)) return 'ndjson';
  throw new ApiError('unsupported_media_type', 'Say whether these are lines of JSON or of CSV.', {
    hint: '?format=ndjson or ?format=csv, or a Content-Type of application/x-ndjson or text/csv.',
  });
};

/** @throws ApiError unsupported_media_type, invalid_header */
const checkHeaders = ({ headers }: IncomingMessage): void => {
  if (!['', 'identity'].includes((headers['content-encoding'] ?? '').toLowerCase()))
    throw new ApiError('unsupported_media_type', 'An import takes no Content-Encoding.');
  if (headers['idempotency-key'] !== undefined)
    throw new ApiError('invalid_header', 'An import takes no Idempotency-Key.', {
      hint: 'Name it by ?import=<a new UUIDv7>: then each line makes one record, however often it comes.',
    });
};

/** The name of an import. @throws ApiError invalid_query */
const findImport = (
  { import: given, from }: { import?: string | undefined; from?: number | undefined },
  { make, now }: ImportNames,
): string => {
  if (given === undefined) {
    if (from === undefined) return make();
    throw new ApiError('invalid_query', '"from": goes on with an import that "import" names.', {
      hint: 'The answer to an import has its name.',
    });
  }
  if (isUuidV7(given) && idTimeMs(given) <= now() + clockDifferenceMs) return given.toLowerCase();
  throw new ApiError('invalid_query', '"import": must be a UUIDv7 that is not ahead of time.', {
    hint: 'import { newId } from "@backlot/client" (or "<host>/sdk.js"): newId() makes one. Without it the server makes one.',
  });
};

const clockDifferenceMs = 60_000;

export interface ImportNames {
  /** A new UUIDv7. */
  make(): string;
  now(): number;
}

/** @throws ApiError invalid_query where a record's own column would take the place of what it should keep */
const checkIdField = (field: string | undefined): string | undefined => {
  if (field === undefined || !(isSystemField(field) || field === 'groupId')) return field;
  throw new ApiError('invalid_query', `"idField": ${JSON.stringify(field)} is a record's own.`, {
    hint: 'Name a field that keeps ids of another system, such as legacyId.',
  });
};

export const importRecords = (imports: Imports, names: ImportNames, inTurn: RouteOptions) =>
  route(
    recordRoutes.importRecords,
    async (call) => {
      const { params, query, identity, rawBody, header } = call;
      const format = findFormat(query.format, header('content-type'));
      const id = findImport(query, names);
      const isDryRun = isSet(query.dryRun);
      const { created, skipped, failed, failedCount, next, stopped, types } = await imports.run(
        rawBody.value as IncomingMessage,
        identity,
        {
          id,
          collection: params.collection,
          format,
          from: query.from ?? 1,
          firstLine: query.firstLine,
          types: parseTypes(query.types),
          idField: checkIdField(query.idField),
          dropsUnknownOwners: query.unknownOwners === 'drop',
          isDryRun,
          source: toSource(identity, header('x-request-id')),
        },
        new CallReader(call),
      );
      const why = stopped && {
        code: stopped.code,
        error: stopped.message,
        ...(stopped.hint && { hint: stopped.hint }),
      };
      return {
        body: {
          import: id,
          created,
          skipped,
          failed,
          failedCount,
          next,
          ...(why && { stopped: why }),
          ...(types && { types }),
          ...(isDryRun && { dryRun: true as const }),
        },
      };
    },
    {
      ...inTurn,
      isSlow: true,
      async receive(req) {
        checkHeaders(req);
        // The rest of one that is refused or ends early; the answer must not wait for it.
        return { value: req, text: '', release: async () => void discardBody(req) };
      },
    },
  );
