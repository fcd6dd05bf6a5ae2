import { isRefusal } from '../errors.ts';

/**
 * Told how each attempt to connect has ended, it tells when PostgreSQL begins to refuse the role or its password,
 * and when it takes them again. Another failure says nothing about them.
 */
export const createRefusalWatch = (
  onChange: (isRefused: boolean) => void,
): ((error: unknown) => void) => {
  let isRefused = false;
  return (error) => {
    const isRefusedNow = isRefusal(error);
    if ((error && !isRefusedNow) || isRefusedNow === isRefused) return;
    isRefused = isRefusedNow;
    onChange(isRefused);
  };
};
