import { serviceNames } from '@backlot/contract';
import {
  deriveIdentityKeys,
  gatewayName,
  type IdentityKey,
  type IdentityPair,
  parseIdentityKeys,
} from '@backlot/identity';
import { servicesBehind } from '@backlot/service';
import { runnableServices } from './service-list.ts';

/** Who calls whom: the gateway every service, and a service those that it asks. */
const pairs: readonly IdentityPair[] = [
  ...serviceNames.map((receiver) => ({ sender: gatewayName, receiver })),
  ...runnableServices.flatMap(({ name, asks }) =>
    servicesBehind(asks).map((receiver) => ({ sender: name, receiver })),
  ),
];

/** Processes that have a BACKLOT_IDENTITY_KEYS of their own. */
export const identityProcesses: readonly string[] = [gatewayName, ...serviceNames];

/**
 * BACKLOT_IDENTITY_KEYS of one process.
 * @param root of all keys; no process gets it
 */
export const identityKeysSetting = (process: string, root: string): string =>
  deriveIdentityKeys(
    root,
    pairs.filter(({ sender, receiver }) => sender === process || receiver === process),
  );

/** The same where the process is a part of this one. */
export const identityKeysFor = (process: string, root: string): IdentityKey[] =>
  parseIdentityKeys(identityKeysSetting(process, root));
