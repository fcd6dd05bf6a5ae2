import type {
  Caller as CallerKind,
  GivenRole,
  KeySnapshot,
  OperatorSnapshot,
  SessionSnapshot,
} from '@backlot/contract';
import type { GatewayProject } from './gateway-project.ts';

export interface Caller {
  kind: CallerKind;
  userId: string | null;
  sessionId: string | null;
  key: KeySnapshot | null;
  /** Of an operator alone. */
  operator?: Pick<OperatorSnapshot, 'name' | 'scope'>;
  /** Of a user alone. */
  role?: string;
  /** Of an owner in a project of somebody else. */
  memberRole?: GivenRole;
  groups?: SessionSnapshot['groups'];
  /** Of a user alone; absent where the auth service does not say. */
  emailVerified?: boolean;
  /** Writes nothing; `until` in epoch milliseconds, null for good. */
  blocked?: NonNullable<SessionSnapshot['blocked']>;
  /** Of a user alone: has no account. */
  isGuest?: true;
  /** Of a user or an owner: their sign-in has shown two factors. */
  hasSecondFactor?: true;
  /** Of an owner alone: their role among the users of `platform`, which services do not see. */
  platformRole?: string;
  /** Epoch milliseconds; null without a session. */
  signedInAtMs: number | null;
  /** The credential is not valid; the caller counts as anonymous. */
  hasBadCredential?: true;
  /** Shown as `anonymous`, for being blocked. */
  isBlocked?: true;
  /** As whom the owner looks. */
  isView?: true;
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
