import { randomUUID } from 'node:crypto';
import {
  type Identity,
  identityHeader,
  identitySecret,
  internalIdentity,
  signIdentity,
} from '@backlot/identity';

/** Whose credits the calls cost. */
const ownerId = '01900000-0000-7000-8000-00000000000a';
const project = {
  id: 'bench',
  number: 1000,
  name: 'Bench',
  ownerId,
  settings: {
    createCollections: true,
    emailRecipients: 'anyone',
    emailPerVisitorPerDay: 1_000_000,
  },
};

/** The headers that the gateway sends a service, for a call that may cost so much. */
export const headersSignedWith =
  (secret: string) =>
  (millicredits: number): Record<string, string> => {
    const reservation =
      millicredits > 0 ? { callId: randomUUID(), millicredits, millicreditsPerUnit: 1000 } : null;
    const identity: Identity = { ...internalIdentity, project, reservation };
    const key = identitySecret(secret);
    return { [identityHeader]: signIdentity(identity, key, Date.now()) };
  };

export type SignedHeaders = ReturnType<typeof headersSignedWith>;
