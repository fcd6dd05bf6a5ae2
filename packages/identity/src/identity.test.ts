import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  type Identity,
  IdentityInvalid,
  identitySecret,
  identityTtlMs,
  signIdentity,
  verifyIdentity,
} from './index.ts';

const secret = identitySecret('0123456789abcdef0123456789abcdef');
const now = 1_800_000_000_000;
const identity: Identity = {
  project: {
    id: 'shop',
    number: 7,
    name: 'Läden & Söhne',
    ownerId: null,
    settings: { createCollections: false },
  },
  caller: 'user',
  userId: 'u',
  sessionId: 's',
  keyId: null,
  ip: '192.0.2.1',
  requestId: 'r',
};

describe('signed identity', () => {
  it('comes back as it was signed', () => {
    expect(
      verifyIdentity(signIdentity(identity, secret, now), secret, now + identityTtlMs),
    ).toEqual(identity);
  });

  it('is refused once its time is over', () => {
    const header = signIdentity(identity, secret, now);
    expect(() => verifyIdentity(header, secret, now + identityTtlMs + 1)).toThrow(IdentityInvalid);
  });

  it('is refused when it was signed with another secret', () => {
    const header = signIdentity(identity, identitySecret('x'.repeat(32)), now);
    expect(() => verifyIdentity(header, secret, now)).toThrow(IdentityInvalid);
  });

  it('is refused after any change of any character', () => {
    const header = signIdentity(identity, secret, now);
    fc.assert(
      fc.property(
        fc.nat(header.length - 1),
        fc.constantFrom('A', 'B', '0', '9', '.', '-'),
        (at, character) => {
          const changed = header.slice(0, at) + character + header.slice(at + 1);
          // The last base64url character of 32 bytes carries four unused bits.
          fc.pre(changed !== header && at < header.length - 1);
          expect(() => verifyIdentity(changed, secret, now)).toThrow(IdentityInvalid);
        },
      ),
    );
  });

  it('is refused when it is no such header at all', () => {
    for (const header of [undefined, '', '.', '..', 'a.b.c', ['x'], 7]) {
      expect(() => verifyIdentity(header, secret, now)).toThrow(IdentityInvalid);
    }
  });

  it('needs a secret of 32 characters', () => {
    expect(() => identitySecret('short')).toThrow(RangeError);
  });
});
