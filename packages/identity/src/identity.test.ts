import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  checkIdentityKeys,
  createIdentitySigner,
  createIdentityVerifier,
  deriveIdentityKeys,
  deriveOwnKeys,
  gatewayKeys,
  type Identity,
  IdentityInvalid,
  type IdentityKey,
  identityTtlMs,
  parseIdentityKeys,
  signIdentity,
  signingKey,
  verifyIdentity,
} from './index.ts';

const pairs = [
  { sender: 'gateway', receiver: 'auth' },
  { sender: 'gateway', receiver: 'email' },
  { sender: 'email', receiver: 'auth' },
];
/** What the setting of this process holds. */
const settingFor = (process: string, root: string) =>
  deriveIdentityKeys(
    root,
    pairs.filter(({ sender, receiver }) => sender === process || receiver === process),
  );
const keysFor = (process: string, root = 'root') => parseIdentityKeys(settingFor(process, root));
const gatewayAuth = signingKey(keysFor('gateway'), 'auth');
const accepted = gatewayKeys(keysFor('auth'), 'auth');
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

const sign = (who: Identity) => signIdentity(who, 'getMe', gatewayAuth, now);
const verify = (header: unknown, at = now) => verifyIdentity(header, 'getMe', accepted, at);

describe('signed identity', () => {
  it('comes back as it was signed', () => {
    const header = sign(identity);
    expect(verify(header, now + identityTtlMs)).toEqual(identity);
  });

  it('is refused once its time is over', () => {
    const header = sign(identity);
    expect(() => verify(header, now + identityTtlMs + 1)).toThrow(IdentityInvalid);
  });

  it('is refused for another call of the same service', () => {
    const header = sign(identity);
    for (const call of ['deleteMe', 'getMe ', '', 'GET /internal/accounts/7/u']) {
      expect(() => verifyIdentity(header, call, accepted, now)).toThrow(IdentityInvalid);
    }
  });

  it('is refused by another service, even one that had been given the same secret', () => {
    const header = sign(identity);
    const elsewhere = gatewayKeys(keysFor('email'), 'email');
    expect(() => verifyIdentity(header, 'getMe', elsewhere, now)).toThrow(IdentityInvalid);
    const same = { ...gatewayAuth, receiver: 'email' };
    expect(() => verifyIdentity(header, 'getMe', [same], now)).toThrow(IdentityInvalid);
  });

  it('can not be forged for a service with all that another one knows', () => {
    const stolen = keysFor('email');
    for (const key of stolen) {
      for (const receiver of ['auth', key.receiver]) {
        for (const sender of ['gateway', key.sender]) {
          const forged = signIdentity(identity, 'getMe', { ...key, sender, receiver }, now);
          expect(() => verifyIdentity(forged, 'getMe', accepted, now)).toThrow(IdentityInvalid);
        }
      }
    }
  });

  it('is refused when it was signed with a key of another installation', () => {
    const other = signingKey(keysFor('gateway', 'another root'), 'auth');
    const header = signIdentity(identity, 'getMe', other, now);
    expect(() => verify(header)).toThrow(IdentityInvalid);
  });

  it('is refused after any change of any character', () => {
    const header = sign(identity);
    fc.assert(
      fc.property(
        fc.nat(header.length - 1),
        fc.constantFrom('A', 'B', '0', '9', '.', '-'),
        (at, character) => {
          const changed = header.slice(0, at) + character + header.slice(at + 1);
          // The last base64url character of 32 bytes carries four unused bits.
          fc.pre(changed !== header && at < header.length - 1);
          expect(() => verify(changed)).toThrow(IdentityInvalid);
        },
      ),
    );
  });

  it('is refused when it is no such header at all', () => {
    for (const header of [undefined, '', '.', '..', 'a.b.c', ['x'], 7]) {
      expect(() => verify(header)).toThrow(IdentityInvalid);
    }
  });
});

describe('identity keys', () => {
  const secret = 's'.repeat(32);

  it('are read as they stand in the setting', () => {
    const keys = parseIdentityKeys(`gateway-auth:${secret}, email-auth:${'+/=_-'.repeat(8)}`);
    expect(keys.map(({ sender, receiver }) => [sender, receiver])).toEqual([
      ['gateway', 'auth'],
      ['email', 'auth'],
    ]);
  });

  it.each(['', 'x', secret, `auth:${secret}`, 'gateway-auth:short', `gateway-auth:${secret},`])(
    'refuse %j, and show no secret',
    (text) => {
      expect(() => parseIdentityKeys(text)).toThrow(/^entry [12] is not of the form/);
      expect(() => parseIdentityKeys(text)).not.toThrow(/ss|short/);
    },
  );

  it('of a process are all that it needs, and no others', () => {
    checkIdentityKeys(keysFor('gateway'), 'gateway', ['auth', 'email']);
    checkIdentityKeys(keysFor('email'), 'email', ['auth']);
    checkIdentityKeys(keysFor('auth'), 'auth', []);
    const check =
      (keys: IdentityKey[], process: string, receivers: string[] = []) =>
      () =>
        checkIdentityKeys(keys, process, receivers);
    expect(check(keysFor('gateway'), 'gateway', ['records'])).toThrow('no key gateway-records');
    expect(check(keysFor('auth').slice(1), 'auth')).toThrow('no key gateway-auth');
    expect(check(keysFor('auth'), 'email', ['auth'])).toThrow('no key gateway-email');
    const everything = [...keysFor('auth'), ...keysFor('gateway')];
    expect(check(everything, 'auth')).toThrow('gateway-email is no key of auth');
  });

  it('are exchanged in three steps, with calls in between at any time', () => {
    const settings = (process: string) => {
      const [before, after] = [settingFor(process, 'old'), settingFor(process, 'new')];
      return [before, `${before},${after}`, `${after},${before}`, after];
    };
    const at = (process: string, step: number) => parseIdentityKeys(settings(process)[step] ?? '');
    const call = (senderStep: number, receiverStep: number) => {
      const key = signingKey(at('gateway', senderStep), 'auth');
      const header = signIdentity(identity, 'getMe', key, now);
      return verifyIdentity(header, 'getMe', gatewayKeys(at('auth', receiverStep), 'auth'), now);
    };
    for (let step = 0; step < 3; step++) {
      for (const [sender, receiver] of [
        [step, step],
        [step, step + 1],
        [step + 1, step],
      ] as const)
        expect(call(sender, receiver)).toEqual(identity);
    }
    expect(() => call(0, 3)).toThrow(IdentityInvalid);
    expect(() => call(3, 0)).toThrow(IdentityInvalid);
  });

  it('make keys of its own for what a service signs for itself', () => {
    const rotating = parseIdentityKeys(`${settingFor('auth', 'new')},${settingFor('auth', 'old')}`);
    const exported = (keys: IdentityKey[], service: string, purpose: string) =>
      deriveOwnKeys(keys, service, purpose).map((key) => key.export().toString('hex'));
    const own = exported(rotating, 'auth', 'cursor');
    expect(own).toEqual([
      ...exported(keysFor('auth', 'new'), 'auth', 'cursor'),
      ...exported(keysFor('auth', 'old'), 'auth', 'cursor'),
    ]);
    expect(new Set([...own, ...exported(rotating, 'auth', 'cookie')]).size).toBe(4);
    expect(exported(keysFor('email'), 'email', 'cursor')).toHaveLength(1);
  });
});

describe('remembered identities', () => {
  it('sign alike within ten seconds, anew after them and after any change', () => {
    let at = now;
    const signer = createIdentitySigner(keysFor('gateway'), () => at);
    const signFor = (identity: Identity) => signer.sign(identity, 'auth', 'getMe');
    const first = signFor(identity);
    at += 9_999;
    expect(signFor({ ...identity })).toBe(first);
    const others = [
      { ...identity, userId: 'v' },
      { ...identity, role: 'staff' },
      { ...identity, groups: [{ id: 'g', role: 'member' }] },
      { ...identity, emailVerified: true as const },
      { ...identity, ip: '192.0.2.2' },
      { ...identity, project: { ...identity.project, settings: {} } },
    ].map(signFor);
    expect(new Set([first, ...others]).size).toBe(7);
    for (const other of others) {
      expect(verify(other, at)).not.toEqual(identity);
    }
    at += 1;
    expect(signFor(identity)).not.toBe(first);
  });

  it('never sign two calls alike that have reservations', () => {
    const signer = createIdentitySigner(keysFor('gateway'), () => now);
    const reserved = (callId: string) =>
      signer.sign(
        { ...identity, reservation: { callId, millicredits: 1000, millicreditsPerUnit: 1000 } },
        'auth',
        'getMe',
      );
    expect(verify(reserved('b')).reservation?.callId).toBe('b');
    expect(reserved('a')).not.toBe(reserved('b'));
  });

  it('are signed anew for another route and another service, and good for none but theirs', () => {
    const signer = createIdentitySigner(keysFor('gateway'), () => now);
    const verifier = createIdentityVerifier(accepted, () => now);
    const getMe = signer.sign(identity, 'auth', 'getMe');
    const deleteMe = signer.sign(identity, 'auth', 'deleteMe');
    expect(verifier.verify(getMe, 'getMe')).toEqual(identity);
    // Known by now, for one call only.
    expect(() => verifier.verify(getMe, 'deleteMe')).toThrow(IdentityInvalid);
    expect(verifier.verify(deleteMe, 'deleteMe')).toEqual(identity);
    const elsewhere = signer.sign(identity, 'email', 'getMe');
    expect(() => verifier.verify(elsewhere, 'getMe')).toThrow(IdentityInvalid);
    expect(() => signer.sign(identity, 'records', 'getMe')).toThrow('records');
  });

  it('are verified again when their time is over', () => {
    let at = now;
    const { verify } = createIdentityVerifier(accepted, () => at);
    const header = sign(identity);
    expect(verify(header, 'getMe')).toEqual(identity);
    expect(verify(header, 'getMe')).toBe(verify(header, 'getMe'));
    at += identityTtlMs + 1;
    expect(() => verify(header, 'getMe')).toThrow(IdentityInvalid);
  });

  it('can not be changed by who got them', () => {
    const { verify } = createIdentityVerifier(accepted, () => now);
    const group = { id: 'g', role: 'member' };
    const seen = verify(sign({ ...identity, groups: [group] }), 'getMe');
    expect(() => Object.assign(seen.groups?.[0] ?? {}, { role: 'admin' })).toThrow(TypeError);
    expect(() => Object.assign(seen.groups ?? [], { 1: group })).toThrow(TypeError);
    expect(() => Object.assign(seen, { caller: 'operator' })).toThrow(TypeError);
    expect(() => Object.assign(seen.project, { number: 1 })).toThrow(TypeError);
  });
});
