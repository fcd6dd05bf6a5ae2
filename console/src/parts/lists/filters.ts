import { useNavigate, useSearch } from '@tanstack/react-router';

type Filters = Readonly<Record<string, string | undefined>>;

/** For `validateSearch`: takes these parameters of the address as texts, and no others. */
export const keepTexts =
  (...names: readonly string[]) =>
  (search: Record<string, unknown>): Record<string, string> =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = search[name];
        const isText = typeof value === 'string' || typeof value === 'number';
        return isText && value !== '' ? [[name, String(value)]] : [];
      }),
    );

/** The filters of a screen, which stand in its address: those that there are, and what changes them. */
export const useFilters = (): [Filters, (change: Filters) => void] => {
  const filters = useSearch({ strict: false }) as Filters;
  const navigate = useNavigate();
  const change = (next: Filters) => {
    const search = Object.fromEntries(
      Object.entries({ ...filters, ...next }).filter(([, value]) => value),
    );
    void navigate({ to: '.', search, replace: true } as never);
  };
  return [filters, change];
};
