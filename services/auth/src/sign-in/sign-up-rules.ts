import { ApiError, type ProjectSettings, platformProject } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import type { Features } from '../features.ts';

const whyClosed = {
  invited: 'Only who was invited can sign up here.',
  nobody: 'Nobody can sign up here.',
  domains: 'Only addresses of certain domains have accounts here.',
};

const closed = (message: string) =>
  new ApiError('sign_up_closed', message, {
    hint: 'The owner of the app decides it by the setting "signUp", and can make accounts with a secret key. Who was invited sends the token of the link as "invitation".',
  });

/** Of who signs up, and of who takes another address later. @throws ApiError sign_up_closed */
export const checkDomain = ({ settings }: Identity['project'], email: string): void => {
  const { signUp: who } = settings as ProjectSettings;
  if (typeof who !== 'object') return;
  if (!who.domains.some((domain) => email.endsWith(`@${domain}`))) throw closed(whyClosed.domains);
};

/** Unless the owner says otherwise: where anyone signs up and nobody has to verify an address. */
export const hasGuests = ({ number, settings }: Identity['project']): boolean => {
  const { guests, signUp = 'anyone', mustVerify = false } = settings as ProjectSettings;
  return number !== platformProject.number && (guests ?? (signUp === 'anyone' && !mustVerify));
};

export interface Newcomer {
  email: string;
  /** The token of a mailed invitation. */
  invitation?: string | undefined;
}

/** Says the same whether the address has an account or not. @throws ApiError sign_up_closed */
export const checkMaySignUp = async (
  { users, invites }: Pick<Features, 'users' | 'invites'>,
  { caller, project }: Identity,
  { email, invitation }: Newcomer,
): Promise<void> => {
  if (caller !== 'anonymous' && caller !== 'user') return;
  const { signUp: who = 'anyone' } = project.settings as ProjectSettings;
  checkDomain(project, email);
  if (who === 'nobody') throw closed(whyClosed.nobody);
  if (who === 'invited') {
    const isInvited =
      invitation !== undefined && (await invites.isOpen(project.number, invitation));
    if (!isInvited) throw closed(whyClosed.invited);
  }
  if (await users.isAddressBlocked(project.number, email))
    throw closed('This address can not sign up here.');
};
