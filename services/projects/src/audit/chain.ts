import { createHash } from 'node:crypto';

/** In which chain lines are that are about nobody's project. */
export const platformChain = 'platform';

/** Of a chain without a line. */
export const firstHash = Buffer.alloc(32);

const sha256 = (...parts: readonly (string | Buffer)[]): Buffer => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};

/** Of what may have to be erased; without its salt nobody can guess it from the hash. */
export const hashDetails = (salt: Buffer, details: string): string =>
  sha256(salt, details).toString('hex');

/** @param before of the line before it */
export const hashLine = (before: Buffer, chain: string, seq: number, content: string): Buffer =>
  sha256(before, `${chain}\n${seq}\n`, content);

export interface StoredLine {
  seq: number;
  id: string;
  at: Date;
  content: string;
  hash: Buffer;
  details: string | null;
  salt: Buffer | null;
  /** They may be gone: too old, or of an account that was erased. */
  may_lack_details: boolean;
}

interface HashedContent {
  id: string;
  at: string;
  details: string;
}

const readContent = (content: string): HashedContent | undefined => {
  try {
    return JSON.parse(content) as HashedContent;
  } catch {
    return undefined;
  }
};

/** What is wrong with a line that follows another; undefined where nothing is. */
export const findFault = (
  chain: string,
  before: { seq: number; hash: Buffer },
  line: StoredLine,
): string | undefined => {
  const { seq, id, at, content, hash, details, salt } = line;
  if (seq !== before.seq + 1) return 'A line before it is missing.';
  if (!hashLine(before.hash, chain, seq, content).equals(hash)) return 'It was changed.';
  const hashed = readContent(content);
  if (!hashed || hashed.id !== id || hashed.at !== at.toISOString())
    return 'Its time or its id was changed.';
  if (details === null || salt === null)
    return line.may_lack_details ? undefined : 'Its details are missing.';
  return hashDetails(salt, details) === hashed.details ? undefined : 'Its details were changed.';
};
