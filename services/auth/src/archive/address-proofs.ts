import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';

/** Whose address it is, and where that was known. */
export interface ProvenAddress {
  projectId: string;
  userId: string;
  email: string;
}

export interface AddressProofs {
  /** `<project id>.<day>.<signature>` */
  write(proven: ProvenAddress): string;
  /** Whichever project it was. */
  isValid(line: Omit<ProvenAddress, 'projectId'>, proof: string | undefined): boolean;
}

/** Who leaves comes back within a year; what was known longer ago may be somebody else's by now. */
const validDays = 400;
const dayMs = 24 * 60 * 60 * 1000;
const issuer = 'backlot verified address 1';

/**
 * What an archive says of verified addresses: whoever may write archives could else have their project mail to
 * addresses that nobody has verified. A proof is one user's of one project, on a day.
 * @param keys of this installation: the first one writes, all are good
 * @param now epoch milliseconds
 */
export const createAddressProofs = (
  keys: readonly KeyObject[],
  now: () => number,
): AddressProofs => {
  const sign = (key: KeyObject, day: string, { projectId, userId, email }: ProvenAddress) =>
    createHmac('sha256', key)
      .update(JSON.stringify([issuer, projectId, day, userId, email]))
      .digest('base64url');
  const isRecent = (day: string) => {
    const ageDays = (now() - Date.parse(day)) / dayMs;
    return ageDays > -2 && ageDays < validDays;
  };
  return {
    write(proven) {
      const [first] = keys;
      if (!first) throw new Error('No key to sign verified addresses with.');
      const day = new Date(now()).toISOString().slice(0, 'yyyy-mm-dd'.length);
      return `${proven.projectId}.${day}.${sign(first, day, proven)}`;
    },
    isValid(line, proof = '') {
      const [projectId = '', day = '', signature = ''] = proof.split('.');
      if (!isRecent(day)) return false;
      const given = Buffer.from(signature);
      return keys.some((key) => {
        const expected = Buffer.from(sign(key, day, { ...line, projectId }));
        return expected.length === given.length && timingSafeEqual(expected, given);
      });
    },
  };
};
