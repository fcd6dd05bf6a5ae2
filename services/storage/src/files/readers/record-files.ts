import { hash } from 'node:crypto';
import {
  ApiError,
  type FileReader,
  type RecordDirectory,
  type RecordPlace,
} from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { LRUCache } from 'lru-cache';
import type { Audience, WantedAudience } from '../audience.ts';
import { canRead, canSign, type File, fileNotFound } from '../file.ts';
import { checkGroup } from '../upload-limits.ts';

const maxKnown = 20_000;
/** What has changed is noticed everywhere within five seconds. */
const knownMs = 3000;

/** What of a caller decides which records are theirs. */
export type RecordReader = Pick<
  Identity,
  'project' | 'caller' | 'userId' | 'role' | 'emailVerified' | 'groups' | 'ip'
>;

const toReader = ({
  project,
  caller,
  userId,
  role,
  emailVerified,
  groups,
  ip,
}: RecordReader): FileReader => ({
  project: { id: project.id, number: project.number, ownerId: project.ownerId },
  caller,
  userId,
  ip,
  ...(role !== undefined && { role }),
  ...(emailVerified && { emailVerified }),
  ...(groups && { groups }),
});

const unavailable = (cause: unknown) =>
  new ApiError('unavailable', 'The record of this file can not be looked up. Try again shortly.', {
    cause,
    retryAfterSeconds: 2,
  });

/** Files that are open to those who may read a record: records says who that is. */
export const createRecordFiles = (records: RecordDirectory, now: () => number) => {
  const known = new LRUCache<string, { allowed: boolean }, FileReader & RecordPlace>({
    maxSize: maxKnown,
    sizeCalculation: () => 1,
    ttl: knownMs,
    ttlResolution: 0,
    perf: { now },
    fetchMethod: async (_key, _stale, { context }) => ({ allowed: await records.mayRead(context) }),
  });

  /** @throws ApiError unavailable */
  const readsRecord = async (
    caller: RecordReader,
    { record }: Pick<File, 'record'>,
  ): Promise<boolean> => {
    if (!record) return false;
    const { ip: _address, ...reader } = toReader(caller);
    const key = hash('sha256', JSON.stringify([reader, record]), 'base64');
    const context = { ...toReader(caller), ...record };
    const found = await known.fetch(key, { context }).catch((cause: unknown) => {
      throw unavailable(cause);
    });
    return found?.allowed === true;
  };

  const place = async (
    identity: Identity,
    record: NonNullable<WantedAudience['record']>,
  ): Promise<RecordPlace> => {
    const answer = await records
      .mayChange({ ...toReader(identity), ...record })
      .catch((cause: unknown) => {
        throw unavailable(cause);
      });
    if ('collectionId' in answer)
      return { collectionId: answer.collectionId, recordId: record.recordId };
    const { code, message, hint } = answer.refused;
    throw new ApiError(code, `"recordId": ${message}`, hint === undefined ? {} : { hint });
  };

  /** Whoever may read the private file may pass it on. @throws ApiError unavailable */
  const mayPassOn = async (caller: RecordReader, file: File): Promise<boolean> =>
    canSign(caller, file) || readsRecord(caller, file);

  /** @throws ApiError unavailable */
  const mayRead = async (identity: Identity, file: File): Promise<boolean> =>
    canRead(identity, file) || readsRecord(identity, file);

  return {
    mayRead,
    mayPassOn,

    /**
     * A file of a record is made, or made so, by who may change the record.
     * @throws ApiError unauthenticated, forbidden, not_found, unavailable
     */
    async resolve(identity: Identity, wanted: WantedAudience): Promise<Audience> {
      checkGroup(identity, wanted.groupId);
      const { visibility, groupId, record } = wanted;
      return { visibility, groupId, record: record && (await place(identity, record)) };
    },

    place,

    /** @throws ApiError not_found where the caller may not even see it, forbidden, unavailable */
    async requirePassable(identity: Identity, file: File | null): Promise<File> {
      if (file && (await mayPassOn(identity, file))) return file;
      if (!file || !canRead(identity, file)) throw fileNotFound();
      throw new ApiError('forbidden', 'This file belongs to somebody else.');
    },
  };
};

export type RecordFiles = ReturnType<typeof createRecordFiles>;
