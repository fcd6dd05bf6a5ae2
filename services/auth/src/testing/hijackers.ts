import { anonymous, type TestAnswer } from '@backlot/testing';
import { createAuthenticator } from './authenticator.ts';
import type { OauthBed } from './oauth-bed.ts';
import type { Person } from './test-bed.ts';

export const methods = ['password', 'social', 'code', 'passkey'] as const;
export type Method = (typeof methods)[number];

/** Somebody with a way to sign in. */
export interface Actor {
  password: string;
  /** Makes an account of the address, or gets into one; the token of the session, where that has worked. */
  enter(email: string): Promise<string | undefined>;
  /** Once more by the same way, whatever has become of the account; with the word of a provider that it is this address. */
  again(email: string): Promise<string | undefined>;
}

const wrongCode = '000000';
const origin = 'http://localhost:8080';
let actors = 0;

const readToken = ({ status, body }: TestAnswer): string | undefined =>
  status < 300 ? body.token : undefined;

/** @param hasMailbox whether mails to the address are read by them */
export const createActor = (bed: OauthBed, method: Method, hasMailbox: boolean): Actor => {
  const name = `actor${++actors}`;
  const password = `the password of ${name}`;
  let address = '';
  const identity = () => anonymous({ ip: `198.51.${actors % 250}.${1 + (actors % 200)}` });
  const post = (path: string, body: object, by: Person['identity'] = identity(), headers = {}) =>
    bed.call('POST', path, { identity: by, body, headers });

  const byPassword = async () =>
    readToken(await post('/auth/signin', { email: address, password }));
  const signUp = async () => {
    await bed.takeEvents();
    const token = readToken(await post('/auth/signup', { email: address, password }));
    if (token === undefined || !hasMailbox) return token;
    const link = await bed.mailedToken();
    await post('/auth/verify', { token: link }, bed.readIdentity(token));
    return token;
  };

  const byCode = async () => {
    await bed.takeEvents();
    await post('/auth/code', { email: address });
    const mail = (await bed.take('mail.requested')).find(
      ({ template }) => template === 'sign-in-code',
    );
    const code = hasMailbox ? mail?.code : wrongCode;
    return readToken(await post('/auth/code/verify', { email: address, code }));
  };

  const bySocial = async () => readToken(await bed.signInWith(name, { ip: identity().ip }));

  const device = createAuthenticator();
  const byPasskey = async () => {
    const asked = await post('/auth/passkeys/sign-in/options', {}, identity(), { origin });
    return readToken(await post('/auth/passkeys/sign-in', { credential: device.get(asked.body) }));
  };
  const addPasskey = async (token: string) => {
    const by = { ...bed.readIdentity(token), ip: identity().ip };
    const asked = await post('/auth/passkeys/options', {}, by, { origin });
    await post('/auth/passkeys', { credential: device.create(asked.body) }, by);
  };

  const ways: Record<Method, Record<'enter' | 'again', () => Promise<string | undefined>>> = {
    password: { enter: signUp, again: byPassword },
    social: {
      enter() {
        // Their provider verifies nothing unless they have the mailbox.
        bed.provider.people.set(name, { email: address, email_verified: hasMailbox });
        return bySocial();
      },
      again: bySocial,
    },
    code: { enter: byCode, again: byCode },
    passkey: {
      async enter() {
        const token = await signUp();
        if (token !== undefined) await addPasskey(token);
        return token;
      },
      again: byPasskey,
    },
  };
  return {
    password,
    enter(email) {
      address = email;
      return ways[method].enter();
    },
    again(email) {
      bed.provider.people.set(name, { email, email_verified: false });
      return ways[method].again().catch(() => undefined);
    },
  };
};
