/** `until`: null for good. */
export interface Block {
  reason: string | null;
  until: string | null;
}

export interface User {
  id: string;
  /** Null: a guest. */
  email: string | null;
  name: string | null;
  /** Id of a file. */
  avatar: string | null;
  /** What the app keeps of the user, up to 8 KB as JSON. */
  profile: Record<string, unknown>;
  /** What the user shows others beside name and picture. */
  publicProfile: Record<string, unknown>;
  role: string;
  emailVerified: boolean;
  isGuest: boolean;
  /** Why the user writes nothing, and until when; absent from who is not blocked. */
  blocked?: Block;
  createdAt: string;
  updatedAt: string;
}

export interface Session {
  token: string;
  user: User;
}

export type SignInAnswer =
  | Session
  | { factorToken: string; factors: ('totp' | 'recovery-code' | 'passkey')[] };
