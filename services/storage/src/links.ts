import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { StorageConfig } from './config.ts';

export interface Place {
  /** Public id. */
  projectId: string;
  projectNumber: number;
  fileId: string;
  name: string;
}

export interface Signature {
  expires?: string | undefined;
  signature?: string | undefined;
}

export interface Links {
  /** Absolute. */
  to(place: Place): string;
  /** Opens the file to whoever has it until then. */
  signed(place: Place, expiresAt: Date): string;
  /** False for one that is missing, made up, of another file or project, or past its time. */
  isValid(place: Omit<Place, 'name' | 'projectId'>, signature: Signature): boolean;
}

const keyBytes = 32;
const seconds = /^[1-9][0-9]{0,11}$/;

export const createLinks = (
  { filesUrl, masterKeys }: Pick<StorageConfig, 'filesUrl' | 'masterKeys'>,
  now: () => number,
): Links => {
  const keys = masterKeys.map((each) =>
    Buffer.from(hkdfSync('sha256', each, '', 'signed addresses of files', keyBytes)),
  );
  const mac = (
    key: Buffer,
    { projectNumber, fileId }: Omit<Place, 'name' | 'projectId'>,
    expires: string,
  ) => createHmac('sha256', key).update(`${projectNumber}\n${fileId}\n${expires}`).digest();

  const to = ({ projectId, fileId, name }: Place) =>
    `${filesUrl}/api/runtime/${projectId}/storage/files/${fileId}/${encodeURIComponent(name)}`;

  return {
    to,
    signed(place, expiresAt) {
      const [current] = keys;
      if (!current) throw new RangeError('Addresses can not be signed without a master key.');
      const expires = String(Math.floor(expiresAt.getTime() / 1000));
      const signature = mac(current, place, expires).toString('base64url');
      return `${to(place)}?expires=${expires}&signature=${signature}`;
    },
    isValid(place, { expires, signature }) {
      if (expires === undefined || signature === undefined || !seconds.test(expires)) return false;
      if (Number(expires) * 1000 <= now()) return false;
      const given = Buffer.from(signature, 'base64url');
      return keys.some((key) => {
        const expected = mac(key, place, expires);
        return expected.length === given.length && timingSafeEqual(expected, given);
      });
    },
  };
};
