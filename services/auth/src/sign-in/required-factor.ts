import type { ProjectSettings } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import type { Account } from '../users/user-row.ts';

/** Whether users of this role do nothing with one factor but set up the second. */
export const isFactorRequired = (
  { settings }: Identity['project'],
  { role }: Pick<Account, 'role'>,
): boolean => (settings as ProjectSettings).mustUse2fa?.includes(role) === true;
