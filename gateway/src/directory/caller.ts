import type { Caller as CallerKind, KeySnapshot, SessionSnapshot } from '@backlot/contract';
import type { GatewayProject } from './gateway-project.ts';

export interface Caller {
  kind: CallerKind;
  userId: string | null;
  sessionId: string | null;
  key: KeySnapshot | null;
  /** Of a user alone. */
  role?: string;
  groups?: SessionSnapshot['groups'];
  /** Of a user alone; absent where the auth service does not say. */
  emailVerified?: boolean;
  /** Epoch milliseconds; null without a session. */
  signedInAtMs: number | null;
  /** The credential is not valid; the caller counts as anonymous. */
  hasBadCredential?: true;
}

export const anonymous: Caller = {
  kind: 'anonymous',
  userId: null,
  sessionId: null,
  key: null,
  signedInAtMs: null,
};

/** The control plane counts in the limits of `platform`, which a project's key may not use up. */
export const isUncounted = ({ kind, key }: Caller, counted: GatewayProject): boolean =>
  kind === 'operator' || (key !== null && key.projectNumber === counted.number);
