import {
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  timingSafeEqual,
} from 'node:crypto';
import type { StorageConfig } from '../config.ts';

export interface FileAddress {
  projectId: string;
  projectNumber: number;
  fileId: string;
  name: string;
}

export interface Signature {
  expires?: string | undefined;
  signature?: string | undefined;
  /** With whom it ends; undefined for the project's owner and the operator, and for addresses of before. */
  signer?: string | undefined;
}

export interface Links {
  to(address: FileAddress): string;
  /** Opens the file to whoever has the address, until then. @param signer with whom it ends */
  signed(address: FileAddress, expiresAt: Date, signer?: string): string;
  /** False for one that is missing, forged, of another file or project, or expired. */
  isValid(address: Omit<FileAddress, 'name' | 'projectId'>, signature: Signature): boolean;
}

const keyBytes = 32;
const seconds = /^[1-9][0-9]{0,11}$/;

export const createLinks = (
  { filesUrl, masterKeys }: Pick<StorageConfig, 'filesUrl' | 'masterKeys'>,
  now: () => number,
): Links => {
  const keys = masterKeys.map((masterKey) =>
    createSecretKey(
      Buffer.from(hkdfSync('sha256', masterKey, '', 'signed addresses of files', keyBytes)),
    ),
  );
  const mac = (
    key: KeyObject,
    { projectNumber, fileId }: Omit<FileAddress, 'name' | 'projectId'>,
    expires: string,
    signer: string | undefined,
  ) => {
    const by = signer === undefined ? '' : `\n${signer}`;
    return createHmac('sha256', key)
      .update(`${projectNumber}\n${fileId}\n${expires}${by}`)
      .digest();
  };

  const to = ({ projectId, fileId, name }: FileAddress) =>
    `${filesUrl}/api/runtime/${projectId}/storage/files/${fileId}/${encodeURIComponent(name)}`;

  return {
    to,
    signed(address, expiresAt, signer) {
      const [current] = keys;
      if (!current) throw new RangeError('Addresses can not be signed without a master key.');
      const expires = String(Math.floor(expiresAt.getTime() / 1000));
      const signature = mac(current, address, expires, signer).toString('base64url');
      const by = signer === undefined ? '' : `signer=${signer}&`;
      return `${to(address)}?${by}expires=${expires}&signature=${signature}`;
    },
    isValid(address, { expires, signature, signer }) {
      if (expires === undefined || signature === undefined || !seconds.test(expires)) return false;
      if (Number(expires) * 1000 <= now()) return false;
      const actual = Buffer.from(signature, 'base64url');
      return keys.some((key) => {
        const expected = mac(key, address, expires, signer);
        return expected.length === actual.length && timingSafeEqual(expected, actual);
      });
    },
  };
};
