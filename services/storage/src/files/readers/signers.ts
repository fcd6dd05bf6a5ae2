import { ApiError, type KeyDirectory, type UserDirectory } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { LRUCache } from 'lru-cache';
import type { File } from '../file.ts';
import type { RecordFiles, RecordReader } from './record-files.ts';

interface SignersDeps {
  users: Pick<UserDirectory, 'findRoleAndGroups'>;
  keys: KeyDirectory;
  recordFiles: Pick<RecordFiles, 'mayPassOn'>;
  /** Epoch milliseconds. */
  now: () => number;
}

type Reader = Pick<RecordReader, 'caller' | 'userId' | 'role' | 'groups'>;

const maxKnown = 10_000;
/** What has ended is noticed everywhere within five seconds. */
const knownMs = 3000;

const signerPattern = /^(user|key)-([0-9a-f-]{36})$/;

/** With whom an address ends; undefined for the project's owner and the operator. */
export const findSigner = ({ caller, userId, keyId }: Identity): string | undefined => {
  if (caller === 'user' && userId !== null) return `user-${userId}`;
  if (caller === 'key' && keyId !== null) return `key-${keyId}`;
  return undefined;
};

/** Whether those who have signed addresses, or opened uploads, may still do so themselves. */
export const createSigners = ({ users, keys, recordFiles, now }: SignersDeps) => {
  /** What a signer is now; null where they are gone, or blocked. */
  const find = async (projectNumber: number, signer: string): Promise<Reader | null> => {
    const [, kind, id = ''] = signerPattern.exec(signer) ?? [];
    if (kind === 'key')
      return (await keys.isLive(projectNumber, id)) ? { caller: 'key', userId: null } : null;
    const user = kind === 'user' && (await users.findRoleAndGroups(projectNumber, id));
    return user && user.isBlocked !== true
      ? { caller: 'user', userId: id, role: user.role, groups: user.groups }
      : null;
  };

  const known = new LRUCache<
    string,
    { reader: Reader | null },
    { projectNumber: number; signer: string }
  >({
    max: maxKnown,
    ttl: knownMs,
    ttlResolution: 0,
    perf: { now },
    fetchMethod: async (_key, _stale, { context: { projectNumber, signer } }) => ({
      reader: await find(projectNumber, signer),
    }),
  });

  const findKnown = async (projectNumber: number, signer: string): Promise<Reader | null> => {
    const context = { projectNumber, signer };
    const found = await known
      .fetch(`${projectNumber}:${signer}`, { context })
      .catch((cause: unknown) => {
        const message = 'Who has handed this out can not be looked up. Try again shortly.';
        throw new ApiError('unavailable', message, { cause, retryAfterSeconds: 2 });
      });
    return found?.reader ?? null;
  };

  return {
    /**
     * Whether an upload that was opened with this secret key, if with one, goes on for who has its id.
     * @throws ApiError unavailable
     */
    mayGoOn: async ({ project, keyId }: Identity, openedWith: string | null): Promise<boolean> =>
      openedWith === null ||
      openedWith === keyId ||
      (await findKnown(project.number, `key-${openedWith}`)) !== null,

    /** @param signer of an address whose signature is valid @throws ApiError unavailable */
    async mayStillSign(
      { project, ip }: Pick<Identity, 'project' | 'ip'>,
      file: File,
      signer: string | undefined,
    ): Promise<boolean> {
      if (signer === undefined) return true;
      const reader = await findKnown(project.number, signer);
      return reader !== null && recordFiles.mayPassOn({ ...reader, project, ip }, file);
    },
  };
};

export type Signers = ReturnType<typeof createSigners>;
