import { createClient } from '@backlot/client';
import { useSyncExternalStore } from 'react';
import { watchedFetch } from './slow-calls.ts';

/** The operator's token stays in this tab, and is gone when it is closed. */
const kept = 'backlot operator';

export type OperatorSession = { state: 'in' } | { state: 'out'; hasEnded: boolean };

let token = sessionStorage.getItem(kept);
let session: OperatorSession = token === null ? { state: 'out', hasEnded: false } : { state: 'in' };
const listeners = new Set<() => void>();
const set = (next: OperatorSession) => {
  session = next;
  for (const listener of listeners) listener();
};

const base = `${location.origin}/api/platform`;
const clientWith = (get: () => string | null) =>
  createClient(base, { storage: { get, set() {} }, fetch: watchedFetch });
const client = clientWith(() => token);
export const operatorClient = () => client;

/** Tries the token, and keeps it where it is the operator's. @throws BacklotError */
export const signInAsOperator = async (tried: string): Promise<void> => {
  await clientWith(() => tried).transport.call('GET', '/reconciliation');
  token = tried;
  sessionStorage.setItem(kept, tried);
  set({ state: 'in' });
};

const forget = (hasEnded: boolean) => {
  token = null;
  sessionStorage.removeItem(kept);
  set({ state: 'out', hasEnded });
};

export const signOutAsOperator = (): void => forget(false);
/** The server takes the token no more. */
export const operatorEnded = (): void => {
  if (session.state === 'in') forget(true);
};

export const useOperator = (): OperatorSession =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => session,
  );
