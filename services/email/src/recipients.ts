import {
  type AccountDirectory,
  ApiError,
  type ProjectDirectory,
  platformProject,
} from '@backlot/contract';
import type { IdentityProject } from '@backlot/identity';

/** As accounts and allow-lists spell an address. */
export const accountSpelling = (address: string): string => address.toLowerCase();

/** Each address once, in its first spelling. */
export const distinct = (to: string | readonly string[]): string[] => {
  const seen = new Set<string>();
  return (typeof to === 'string' ? [to] : to).filter((address) => {
    const isNew = !seen.has(accountSpelling(address));
    seen.add(accountSpelling(address));
    return isNew;
  });
};

export interface RecipientsDeps {
  projects: ProjectDirectory;
  accounts: AccountDirectory;
  /** Where the project has set nothing. */
  defaultPolicy: 'anyone' | 'known';
}

export type Recipients = ReturnType<typeof createRecipients>;

/** To whom a project may send (contract section 7). */
export const createRecipients = ({ projects, accounts, defaultPolicy }: RecipientsDeps) => {
  const strangersAmong = async (project: IdentityProject, addresses: readonly string[]) => {
    const snapshot = await projects.findProject(project.id);
    const allowed = new Set(snapshot?.settings.emailAllowList);
    const owner = () =>
      snapshot?.ownerId ? accounts.findAccount(platformProject.number, snapshot.ownerId) : null;
    const unlisted = addresses.filter((each) => !allowed.has(accountSpelling(each)));
    if (unlisted.length === 0) return [];
    const known = new Set(await accounts.registered(project.number, unlisted.map(accountSpelling)));
    const strangers = unlisted.filter((each) => !known.has(accountSpelling(each)));
    if (strangers.length === 0) return [];
    const ownerAddress = (await owner())?.email;
    return strangers.filter((each) => accountSpelling(each) !== ownerAddress);
  };

  return {
    /** @throws ApiError recipient_not_allowed */
    async check(project: IdentityProject, addresses: readonly string[]): Promise<void> {
      const policy = project.settings.emailRecipients ?? defaultPolicy;
      if (policy === 'anyone') return;
      const strangers = await strangersAmong(project, addresses);
      if (strangers.length === 0) return;
      throw new ApiError(
        'recipient_not_allowed',
        `This project may not send to ${strangers.join(', ')}.`,
        {
          hint: "It sends to its registered users, its owner, and the addresses on the owner's emailAllowList.",
        },
      );
    },
  };
};
