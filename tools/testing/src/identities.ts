import { type Identity, identitySecret, signIdentity } from '@backlot/identity';

/** The secret that services under test accept. */
export const testIdentitySecret = identitySecret('a secret that only tests know about');

export const testProject = {
  id: 'testproject',
  number: 1001,
  name: 'Test project',
  ownerId: '018f0000-0000-7000-8000-00000000aaaa',
  settings: {},
};

const nobody: Identity = {
  project: testProject,
  caller: 'anonymous',
  userId: null,
  sessionId: null,
  keyId: null,
  ip: '192.0.2.1',
};

/** A caller without credentials in the test project; everything can be replaced. */
export const anonymous = (changes: Partial<Identity> = {}): Identity => ({ ...nobody, ...changes });

export const asUser = (userId: string, changes: Partial<Identity> = {}): Identity =>
  anonymous({
    caller: 'user',
    userId,
    sessionId: '018f0000-0000-7000-8000-00000000bbbb',
    ...changes,
  });

export const asOwner = (changes: Partial<Identity> = {}): Identity =>
  anonymous({ caller: 'owner', userId: testProject.ownerId, ...changes });

export const asKey = (changes: Partial<Identity> = {}): Identity =>
  anonymous({ caller: 'key', keyId: '018f0000-0000-7000-8000-00000000cccc', ...changes });

export const asOperator = (changes: Partial<Identity> = {}): Identity =>
  anonymous({ caller: 'operator', ...changes });

/** The header a service expects from the gateway. */
export const signed = (identity: Identity, now = Date.now()): string =>
  signIdentity(identity, testIdentitySecret, now);
