import { bootstrapOperator, type RouteDefinition, serviceNames } from '@backlot/contract';
import {
  deriveIdentityKeys,
  gatewayName,
  type Identity,
  type IdentityKey,
  parseIdentityKeys,
  signIdentity,
  signingKey,
} from '@backlot/identity';

const senders = [gatewayName, ...serviceNames];
const pairs = senders.flatMap((sender) => serviceNames.map((receiver) => ({ sender, receiver })));

/**
 * BACKLOT_IDENTITY_KEYS of a process under test: with the gateway and every service.
 * @param root keys of another root are other keys
 */
export const testIdentityKeysSetting = (process: string, root = 'only tests know this'): string =>
  deriveIdentityKeys(
    root,
    pairs.filter(
      ({ sender, receiver }) => sender !== receiver && (sender === process || receiver === process),
    ),
  );

/** The same, as a process holds them. */
export const testIdentityKeys = (process: string, root?: string): IdentityKey[] =>
  parseIdentityKeys(testIdentityKeysSetting(process, root));

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
  anonymous({ caller: 'operator', operator: bootstrapOperator, ...changes });

/** What an identity is signed for: a route, or an internal path of a service. */
export type SignedFor = Pick<RouteDefinition, 'service' | 'operationId'>;

/** What a header says; its signature is not looked at. */
export const readIdentity = (header: unknown): Identity => {
  const [, content = ''] = String(header).split('.');
  return JSON.parse(Buffer.from(content, 'base64url').toString()) as Identity;
};

const keysOfGateway = testIdentityKeys(gatewayName);

/** The header that a service expects from the gateway with a call of this route. */
export const signed = (
  identity: Identity,
  { service, operationId }: SignedFor,
  now = Date.now(),
): string => signIdentity(identity, operationId, signingKey(keysOfGateway, service), now);
