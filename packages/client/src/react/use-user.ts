import { useSyncExternalStore } from 'react';
import type { User } from '../calls/auth.ts';

/** What `client.auth` has. */
export interface UserSource {
  onChange(listener: (user: User | null) => void): () => void;
}

interface Store {
  user: User | null | undefined;
  subscribe(listener: () => void): () => void;
}

const stores = new WeakMap<UserSource, Store>();

/** One for all that show the user, so that the server is asked once. */
const storeOf = (auth: UserSource): Store => {
  const known = stores.get(auth);
  if (known) return known;
  const listeners = new Set<() => void>();
  let isWatching = false;
  const store: Store = {
    user: undefined,
    subscribe(listener) {
      listeners.add(listener);
      if (!isWatching)
        auth.onChange((user) => {
          store.user = user;
          for (const told of listeners) told();
        });
      isWatching = true;
      return () => {
        listeners.delete(listener);
      };
    },
  };
  stores.set(auth, store);
  return store;
};

/** Who is signed in: undefined until that is known, null for nobody. */
export const useUser = ({ auth }: { auth: UserSource }): User | null | undefined => {
  const store = storeOf(auth);
  const user = () => store.user;
  return useSyncExternalStore(store.subscribe, user, () => undefined);
};
