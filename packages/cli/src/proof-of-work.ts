import { pbkdf2Sync } from 'node:crypto';

/** What a busy network address is asked for: an ALTCHA challenge. */
export interface Challenge {
  parameters: { nonce: string; salt: string; cost: number; keyLength: number; keyPrefix: string };
  signature: string;
}

/** Some 256 are needed where every key has to begin with a zero byte. */
const mostTries = 100_000;
/** A server that asks for more would keep the command busy for hours. */
const mostCost = 1_000_000;

/** The header `Backlot-Proof`. @throws RangeError */
export const solve = ({ parameters, signature }: Challenge): string => {
  const { nonce, salt, cost, keyLength, keyPrefix } = parameters;
  if (!(cost <= mostCost) || !(keyLength <= 64))
    throw new RangeError('The server asks for too much work.');
  const password = Buffer.concat([Buffer.from(nonce, 'hex'), Buffer.alloc(4)]);
  for (let counter = 0; counter < mostTries; counter++) {
    password.writeUInt32BE(counter, password.length - 4);
    const key = pbkdf2Sync(password, Buffer.from(salt, 'hex'), cost, keyLength, 'sha256');
    const derivedKey = key.toString('hex');
    if (!derivedKey.startsWith(keyPrefix)) continue;
    const proof = { challenge: { parameters, signature }, solution: { counter, derivedKey } };
    return Buffer.from(JSON.stringify(proof)).toString('base64');
  }
  throw new RangeError('The challenge has no solution.');
};
