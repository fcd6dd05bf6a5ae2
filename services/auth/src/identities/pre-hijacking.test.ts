import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createActor, type Method, methods } from '../testing/hijackers.ts';
import { createOauthBed, type OauthBed } from '../testing/oauth-bed.ts';
import { goodPassword } from '../testing/test-bed.ts';

/** How the victim, who alone has the mailbox, shows that the address is theirs. */
const proofs = ['mailed link', 'provider'] as const;
type Proof = (typeof proofs)[number];
/** When the second one comes: before the first one has verified an address, or after. */
const moments = ['before', 'after'] as const;
const orders = ['attacker', 'victim'] as const;

type Row = [
  attacker: Method,
  first: (typeof orders)[number],
  moment: (typeof moments)[number],
  proof: Proof,
];
const rows: Row[] = methods.flatMap((method) =>
  orders.flatMap((first) =>
    moments.flatMap((moment) => proofs.map((proof): Row => [method, first, moment, proof])),
  ),
);

/**
 * Whoever has the mailbox ends up with the account of the address, and nobody else with a way into it: of every
 * attacker, whoever comes first, before and after verification.
 */
describe('an account of an address that is somebody else’s', () => {
  let bed: OauthBed;
  let count = 0;
  beforeAll(async () => {
    const many = { max: 10_000, windowMs: 1000 };
    bed = await createOauthBed({ limits: { signUpPerIp: many } });
  });
  afterAll(() => bed.close());

  it('is tried in 32 orders', () => {
    expect(rows).toHaveLength(32);
  });

  const me = async (token: string | undefined) => {
    if (token === undefined) return undefined;
    const { status, body } = await bed.call('GET', '/auth/me', {
      identity: bed.readIdentity(token),
    });
    return status === 200 ? body.user : undefined;
  };

  /** The mail of this kind to the address. */
  const mailed = async (email: string, template: string) => {
    const mail = (await bed.take('mail.requested')).findLast(
      (sent) => sent.to === email && sent.template === template,
    );
    if (!mail) throw new Error(`no mail ${template}`);
    return mail.token;
  };

  const createVictim = (email: string, proof: Proof) => {
    const subject = email.split('@')[0] ?? '';
    let link: string | undefined;
    let token: string | undefined;
    const bySignIn = async () => (await bed.signIn({ email, password: goodPassword })).body.token;
    const byProvider = async (isVerified: boolean) => {
      bed.provider.people.set(subject, { email, email_verified: isVerified });
      return (await bed.signInWith(subject)).body.token;
    };
    return {
      /** Makes the account, and has verified nothing yet. */
      async begin() {
        await bed.takeEvents();
        if (proof === 'provider') token = await byProvider(false);
        else {
          token = (await bed.signUp({ email })).token;
          link = await mailed(email, 'verify-email');
        }
      },
      /** With what the victim has: a session, the mailbox, an account at the provider. */
      async prove() {
        if (proof === 'provider') token = await byProvider(true);
        else if (link !== undefined) {
          const identity = token === undefined ? {} : { identity: bed.readIdentity(token) };
          await bed.call('POST', '/auth/verify', { ...identity, body: { token: link } });
        } else {
          const body = { email, password: goodPassword };
          const signedUp = await bed.call('POST', '/auth/signup', { body });
          // The address is taken: the way of everybody who has the mailbox.
          if (signedUp.status === 409) {
            await bed.takeEvents();
            await bed.call('POST', '/auth/forgot', { body: { email } });
            const reset = await mailed(email, 'reset-password');
            await bed.call('POST', '/auth/reset', {
              body: { token: reset, password: goodPassword },
            });
            token = await bySignIn();
          } else {
            token = signedUp.body.token;
            const body = { token: await mailed(email, 'verify-email') };
            await bed.call('POST', '/auth/verify', {
              identity: bed.readIdentity(String(token)),
              body,
            });
          }
        }
        return token;
      },
      again: () => (proof === 'provider' ? byProvider(true) : bySignIn()),
    };
  };

  /** The attacker has an account with an address of their own, and would make it the victim's. */
  const reachOut = async (token: string | undefined, subject: string, email: string) => {
    if (token === undefined) return;
    const identity = bed.readIdentity(token);
    const { user } = (await bed.call('GET', '/auth/me', { identity })).body;
    await bed.call('POST', '/auth/forgot', { body: { email: user.email } });
    await bed.call('POST', '/auth/change-email', {
      identity,
      body: { email, password: subject },
    });
  };

  it.each(rows)(
    'by %s of an attacker, the %s first, the second one %s verification, by %s: is the victim’s alone',
    async (method, first, moment, proof) => {
      const email = `victim${++count}@example.org`;
      const victim = createVictim(email, proof);
      const isOwnAccount = first === 'attacker' && moment === 'after';
      const attacker = createActor(bed, method, isOwnAccount);
      const attack = async () => {
        if (!isOwnAccount) return attacker.enter(email);
        const planted = await attacker.enter(`attacker${count}@example.org`);
        await reachOut(planted, attacker.password, email);
        return planted;
      };

      let planted: string | undefined;
      let token: string | undefined;
      if (first === 'attacker') {
        planted = await attack();
        token = await victim.prove();
      } else {
        await victim.begin();
        if (moment === 'after') token = await victim.prove();
        planted = await attack();
        if (moment === 'before') token = await victim.prove();
      }

      const owner = await me(token);
      expect(owner).toMatchObject({ email, emailVerified: true });
      expect((await me(await victim.again()))?.id).toBe(owner.id);
      const reached = [await me(planted), await me(await attacker.again(email))];
      for (const user of reached) expect(user?.id).not.toBe(owner.id);
      // What the attacker has verified as their own stays theirs.
      if (isOwnAccount) expect(reached[0]?.email).toBe(`attacker${count}@example.org`);
      else expect(reached).toEqual([undefined, undefined]);
      expect((await me(token))?.id).toBe(owner.id);
      const factors = await bed.call('GET', '/auth/passkeys', {
        identity: bed.readIdentity(String(token)),
      });
      expect(factors.body.items).toEqual([]);
    },
  );
});
