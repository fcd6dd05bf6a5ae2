import { ApiError } from '@backlot/contract';
import type { ProviderClients } from '../oauth/provider-clients.ts';
import type { Account } from '../users/user-row.ts';
import type { Identities } from './identities.ts';

export interface WaysInOptions {
  identities: Identities;
  providerClients: Pick<ProviderClients, 'listOn'>;
}

type WaysOfAccount = Pick<Account, 'id' | 'password_hash' | 'has_passkey'>;

const lastOne = () =>
  new ApiError('conflict', 'This is the last way in which you sign in here.', {
    hint: 'Set a password (POST /auth/forgot), add a passkey or link another account first.',
  });

/** How a user can sign in: the last way stays. */
export const createWaysIn = ({ identities, providerClients }: WaysInOptions) => {
  /** Whether there is one left: a password, a passkey, or an account at a provider that is still asked. */
  const has = async (project: number, account: WaysOfAccount): Promise<boolean> => {
    if (account.password_hash !== null || account.has_passkey) return true;
    const on = new Set((await providerClients.listOn(project)).map(({ name }) => name));
    const linked = await identities.list(project, account.id);
    return linked.some(({ provider }) => on.has(provider));
  };
  return {
    /**
     * Behind the end of one of them. Belongs into its transaction, which has locked the account.
     * @throws ApiError conflict
     */
    async requireOne(project: number, account: WaysOfAccount): Promise<void> {
      if (!(await has(project, account))) throw lastOne();
    },
  };
};

export type WaysIn = ReturnType<typeof createWaysIn>;
