import { createClient, type TokenStorage, type User } from '@backlot/client';
import { useSyncExternalStore } from 'react';
import { secondFactorShown } from './second-factor.ts';
import { watchedFetch } from './slow-calls.ts';

/** Owners are the users of this project. */
const platformBase = `${location.origin}/api/runtime/platform`;

const ownerClient = createClient(platformBase, { fetch: watchedFetch });

/** Of whoever works here; `unknown` until the first look, with why it failed. `hasEnded`: while somebody worked, without their doing. */
export type Session =
  | { state: 'unknown'; error?: Error }
  | { state: 'out'; hasEnded: boolean }
  | { state: 'in'; user: User };

let session: Session = { state: 'unknown' };
let email: string | undefined;
/** Of whoever was signed in here last, since the page was opened. */
export const lastEmail = (): string | undefined => email;
const listeners = new Set<() => void>();
const set = (next: Session) => {
  if (next.state === 'in') email = next.user.email ?? undefined;
  if (next.state === 'out') secondFactorShown();
  session = next;
  for (const listener of listeners) listener();
};

const show = (user: User | null) => {
  if (user) set({ state: 'in', user });
  else if (session.state !== 'out') set({ state: 'out', hasEnded: session.state === 'in' });
};

let looks = 0;
/** Asks who is signed in. @throws BacklotError */
export const look = async (): Promise<void> => {
  looks += 1;
  const mine = looks;
  const isLast = () => mine === looks;
  try {
    const user = await ownerClient.auth.me();
    if (isLast()) show(user);
  } catch (error) {
    if (isLast() && session.state === 'unknown') set({ state: 'unknown', error: error as Error });
    throw error;
  }
};
/** Where that fails, the session stays what it was. */
export const lookAgain = (): void => void look().catch(() => {});
lookAgain();
// Another tab has signed out, or in as somebody else.
addEventListener('storage', ({ key }) => {
  if (key === null || key === `backlot ${platformBase}`) lookAgain();
});

/** The server takes the token no more. */
export const sessionEnded = (): void => {
  if (session.state === 'in') lookAgain();
};

/** The owner's own account. */
export const ownerAuth = ownerClient.auth;
/** Whom the form has signed in. */
export const entered = (user: User): void => {
  looks += 1;
  show(user);
};
export const signOut = async (): Promise<void> => {
  looks += 1;
  // The token is forgotten here even where the server can't be told.
  await ownerAuth.signOut().catch(() => {});
  set({ state: 'out', hasEnded: false });
};
export const readSession = (): Session => session;
export const useSession = (): Session =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => session,
  );

/** The owner's token, which the owner's own client renews. */
export const ownerToken: TokenStorage = {
  get: async () => (await ownerClient.transport.authorization())?.slice('Bearer '.length) ?? null,
  set() {},
};

const clients = new Map<string, ReturnType<typeof createClient>>();
const maxClients = 50;

const clientAt = (base: string) => {
  const known =
    clients.get(base) ?? createClient(base, { storage: ownerToken, fetch: watchedFetch });
  if (clients.size >= maxClients) clients.clear();
  clients.set(base, known);
  return known;
};

/** The client of one project, which calls as its owner: records, files, live lists. */
export const projectClient = (projectId: string) =>
  clientAt(`${location.origin}/api/runtime/${encodeURIComponent(projectId)}`);
export const platformClient = () => clientAt(`${location.origin}/api/platform`);
