import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  createIdentitySigner,
  createIdentityVerifier,
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

describe('remembered identities', () => {
  it('sign alike within ten seconds, anew after them and after any change', () => {
    let at = now;
    const signer = createIdentitySigner(secret, () => at);
    const first = signer.sign(identity);
    at += 9_999;
    expect(signer.sign({ ...identity })).toBe(first);
    const others = [
      { ...identity, userId: 'v' },
      { ...identity, ip: '192.0.2.2' },
      { ...identity, project: { ...identity.project, settings: {} } },
    ].map((identity) => signer.sign(identity));
    expect(new Set([first, ...others]).size).toBe(4);
    for (const other of others) {
      expect(verifyIdentity(other, secret, at)).not.toEqual(identity);
    }
    at += 1;
    expect(signer.sign(identity)).not.toBe(first);
  });

  it('never sign two calls alike that have reservations', () => {
    const signer = createIdentitySigner(secret, () => now);
    const reserved = (callId: string) =>
      signer.sign({
        ...identity,
        reservation: { callId, millicredits: 1000, millicreditsPerUnit: 1000 },
      });
    expect(verifyIdentity(reserved('b'), secret, now).reservation?.callId).toBe('b');
    expect(reserved('a')).not.toBe(reserved('b'));
  });

  it('are verified again when their time is over', () => {
    let at = now;
    const { verify } = createIdentityVerifier(secret, () => at);
    const header = signIdentity(identity, secret, now);
    expect(verify(header)).toEqual(identity);
    expect(verify(header)).toBe(verify(header));
    at += identityTtlMs + 1;
    expect(() => verify(header)).toThrow(IdentityInvalid);
  });

  it('can not be changed by who got them', () => {
    const { verify } = createIdentityVerifier(secret, () => now);
    const seen = verify(signIdentity(identity, secret, now));
    expect(() => Object.assign(seen, { caller: 'operator' })).toThrow(TypeError);
    expect(() => Object.assign(seen.project, { number: 1 })).toThrow(TypeError);
  });
});
