import { useLocation, useRouter } from '@tanstack/react-router';
import { useEffect, useState } from 'react';

const name = 'backlot invitation';

const decode = (hash: string): string => {
  try {
    return decodeURIComponent(hash);
  } catch {
    return hash;
  }
};

/** Of the mailed link. It leaves the address at once, and is kept in this tab until it is used: a sign-in may lead away and back. */
export const useKeptToken = (): string | undefined => {
  const { hash } = useLocation();
  const router = useRouter();
  const [token, setToken] = useState(() => decode(hash) || sessionStorage.getItem(name));
  useEffect(() => {
    if (hash === '') return;
    const next = decode(hash);
    sessionStorage.setItem(name, next);
    setToken(next);
    void router.navigate({ to: '/invitation', replace: true });
  }, [hash, router]);
  return token ?? undefined;
};

export const forgetToken = (): void => sessionStorage.removeItem(name);
