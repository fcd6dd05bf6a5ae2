import { randomUUID } from 'node:crypto';
import { identityKeysFor } from '@backlot/all-in-one';
import type { RouteDefinition } from '@backlot/contract';
import {
  gatewayName,
  type Identity,
  identityHeader,
  internalIdentity,
  signIdentity,
  signingKey,
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

/** The headers that the gateway sends with a call of a route, which may cost so much. */
export const headersSignedWith =
  (root: string) =>
  (
    { service, operationId }: Pick<RouteDefinition, 'service' | 'operationId'>,
    millicredits: number,
  ): Record<string, string> => {
    const reservation =
      millicredits > 0 ? { callId: randomUUID(), millicredits, millicreditsPerUnit: 1000 } : null;
    const identity: Identity = { ...internalIdentity, project, reservation };
    const key = signingKey(identityKeysFor(gatewayName, root), service);
    return { [identityHeader]: signIdentity(identity, operationId, key, Date.now()) };
  };

export type SignedHeaders = ReturnType<typeof headersSignedWith>;
