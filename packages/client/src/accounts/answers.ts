/** Who else signs users in. */
export interface Provider {
  name: string;
  /** For the button: Google. */
  label: string;
}

/** What there is beside a password. */
export interface Ways {
  providers: Provider[];
  /** Whether somebody without an invitation makes an account. */
  signUp: boolean;
  codes: boolean;
  guests: boolean;
  /** Whether they work on this page. */
  passkeys: boolean;
}

export interface Passkey {
  id: string;
  name: string;
  /** Where it signs in. */
  host: string;
  createdAt: string;
  lastUsedAt: string | null;
}

export interface Factor {
  id: string;
  type: 'totp';
  createdAt: string;
  lastUsedAt: string | null;
}

export interface LinkedIdentity {
  id: string;
  provider: string;
  label: string;
  issuer: string;
  email: string | null;
  createdAt: string;
  lastUsedAt: string;
}

export interface OwnSession {
  id: string;
  /** Browser and system, as they call themselves. */
  device: string | null;
  /** The address without its last part. */
  network: string | null;
  method: string | null;
  createdAt: string;
  lastUsedAt: string;
  expiresAt: string;
  isCurrent: boolean;
}

export interface SignInEvent {
  id: string;
  kind: string;
  detail: string | null;
  device: string | null;
  network: string | null;
  times: number;
  createdAt: string;
  lastAt: string;
}
