const statuses = ['verified', 'unverified', 'blocked', 'guest'] as const;
const sorts = ['-createdAt', 'createdAt', 'email', '-email'] as const;

export interface UsersSearch {
  q?: string;
  status?: (typeof statuses)[number];
  role?: string;
  sort?: (typeof sorts)[number];
}

const pick = <T extends string>(known: readonly T[], value: unknown) =>
  known.find((word) => word === value);

/** What of an address is known; the router leaves in what is not. */
export const toUsersSearch = ({ q, status, role, sort }: Record<string, unknown>): UsersSearch => {
  const knownStatus = pick(statuses, status);
  const knownSort = pick(sorts, sort);
  return {
    ...((typeof q === 'string' || typeof q === 'number') && q !== '' && { q: String(q) }),
    ...(typeof role === 'string' && role !== '' && { role }),
    ...(knownStatus && { status: knownStatus }),
    ...(knownSort && { sort: knownSort }),
  };
};
