import { createSecretKey, hkdfSync, type KeyObject } from 'node:crypto';

/** The sender that speaks for callers; every other one asks for itself. */
export const gatewayName = 'gateway';

/** Who signs, and who verifies: the gateway or a service. */
export interface IdentityPair {
  sender: string;
  receiver: string;
}

/** Only its two processes have it: with what one of them knows nobody can sign for a third. */
export interface IdentityKey extends IdentityPair {
  secret: KeyObject;
}

const namePair = ({ sender, receiver }: IdentityPair) => `${sender}-${receiver}`;

const entryPattern = /^([a-z]+)-([a-z]+):([\w+/=-]{32,512})$/;

/**
 * @param text entries such as `gateway-auth:<secret of 32 characters or more>`, separated by commas. A
 * pair may stand there twice: the first secret signs, both are accepted.
 * @throws RangeError that tells which entry is wrong, without its secret
 */
export const parseIdentityKeys = (text: string): IdentityKey[] =>
  text.split(',').map((entry, index) => {
    const [, sender, receiver, secret] = entryPattern.exec(entry.trim()) ?? [];
    if (sender === undefined || receiver === undefined || secret === undefined) {
      const form = '<sender>-<receiver>:<secret of 32 characters or more>';
      throw new RangeError(`entry ${index + 1} is not of the form ${form}`);
    }
    return { sender, receiver, secret: createSecretKey(secret, 'utf8') };
  });

/**
 * Checks that a process has its keys and nobody else's.
 * @param receivers the services that it calls
 * @throws RangeError that names a pair which is missing or not its own
 */
export const checkIdentityKeys = (
  keys: readonly IdentityKey[],
  process: string,
  receivers: readonly string[],
): void => {
  const needed = [
    ...receivers.map((receiver) => ({ sender: process, receiver })),
    ...(process === gatewayName ? [] : [{ sender: gatewayName, receiver: process }]),
  ].map(namePair);
  const given = keys.map(namePair);
  const missing = needed.find((pair) => !given.includes(pair));
  if (missing !== undefined) throw new RangeError(`there is no key ${missing}`);
  const foreign = keys.find(({ sender, receiver }) => sender !== process && receiver !== process);
  if (foreign) throw new RangeError(`${namePair(foreign)} is no key of ${process}`);
};

/** Keys that callers' identities for this service may be signed with. */
export const gatewayKeys = (keys: readonly IdentityKey[], receiver: string): IdentityKey[] =>
  keys.filter((key) => key.sender === gatewayName && key.receiver === receiver);

/** The key that a process signs with for this service. @throws RangeError where it has none */
export const signingKey = (keys: readonly IdentityKey[], receiver: string): IdentityKey => {
  const key = keys.find((candidate) => candidate.receiver === receiver);
  if (!key) throw new RangeError(`There is no identity key for ${receiver}.`);
  return key;
};

const derive = (secret: string | KeyObject, purpose: string) =>
  Buffer.from(hkdfSync('sha256', secret, '', purpose, 32));

/**
 * Keys of these pairs as `parseIdentityKeys` reads them, made from a root secret. Whoever has the root
 * can sign for everybody: it stays with what starts the processes.
 */
export const deriveIdentityKeys = (root: string, pairs: readonly IdentityPair[]): string =>
  pairs
    .map(namePair)
    .map((pair) => `${pair}:${derive(root, `backlot identity ${pair}`).toString('base64url')}`)
    .join(',');

/**
 * Keys for what a service signs for itself and may forget, such as a cursor: the first one signs, all are
 * accepted. They change when the gateway's key for this service does.
 */
export const deriveOwnKeys = (
  keys: readonly IdentityKey[],
  service: string,
  purpose: string,
): KeyObject[] =>
  gatewayKeys(keys, service).map(({ secret }) =>
    createSecretKey(derive(secret, `backlot ${purpose}`)),
  );
