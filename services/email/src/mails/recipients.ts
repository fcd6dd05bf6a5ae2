import {
  type AccountDirectory,
  ApiError,
  normalizeEmail,
  type OwnerDirectory,
  type ProjectDirectory,
  platformProject,
} from '@backlot/contract';
import type { IdentityProject } from '@backlot/identity';

/** Every address once, in its first spelling. */
export const uniqueAddresses = (to: string | readonly string[]): string[] => {
  const seen = new Set<string>();
  return (typeof to === 'string' ? [to] : to).filter((address) => {
    const isNew = !seen.has(normalizeEmail(address));
    seen.add(normalizeEmail(address));
    return isNew;
  });
};

export interface RecipientsDeps {
  projects: ProjectDirectory;
  accounts: AccountDirectory;
  owners: OwnerDirectory;
  /** For projects that have set none. */
  defaultPolicy: 'anyone' | 'known';
}

export type Recipients = ReturnType<typeof createRecipients>;

/** To whom a project may send (docs/api.md, "E-mail"). */
export const createRecipients = ({ projects, accounts, owners, defaultPolicy }: RecipientsDeps) => {
  /** Asks the same whoever the addresses are: how long it takes tells nobody who they are. */
  const findUnknown = async (
    project: IdentityProject,
    addresses: readonly string[],
    countsAllowList: boolean,
  ): Promise<string[]> => {
    const [snapshot, registered, owner] = await Promise.all([
      projects.findProject(project.id),
      accounts.registered(project.number, addresses.map(normalizeEmail)),
      project.ownerId ? accounts.findAccount(platformProject.number, project.ownerId) : null,
    ]);
    const listed = countsAllowList ? (snapshot?.settings.emailAllowList ?? []) : [];
    const known = new Set([
      ...(project.isPreview ? [] : [...registered, ...listed.map(normalizeEmail)]),
      ...(owner?.emailVerified && owner.email !== null ? [owner.email] : []),
    ]);
    return addresses.filter((address) => !known.has(normalizeEmail(address)));
  };

  const mayWriteToStrangers = ({ ownerId }: IdentityProject) =>
    owners.isVerified(String(ownerId)).catch((cause: unknown) => {
      const message = 'The owner of the project can not be looked up. Try again shortly.';
      throw new ApiError('unavailable', message, { cause, retryAfterSeconds: 2 });
    });

  return {
    /**
     * The address of whoever the project belongs to; undefined where it has no owner, or one who has not
     * verified it.
     * @throws ApiError unavailable
     */
    async findOwner({ ownerId, ...project }: IdentityProject): Promise<string | undefined> {
      if (!ownerId || !(await mayWriteToStrangers({ ownerId, ...project }))) return undefined;
      return (await accounts.findAccount(platformProject.number, ownerId))?.email ?? undefined;
    },

    /**
     * Whether the project sends to those alone whom it knows, and those of the addresses to whom the project may not send. While its owner is not verified, settings
     * open it to nobody: it sends to verified addresses of its users and its owner. A preview, whose users may be
     * copies of real ones, sends to its owner alone.
     * @throws ApiError unavailable
     */
    async findRefused(
      project: IdentityProject,
      addresses: readonly string[],
    ): Promise<{ refused: string[]; knownOnly: boolean; isOwnerVerified: boolean }> {
      const isOwnerVerified = await mayWriteToStrangers(project);
      const policy =
        isOwnerVerified && !project.isPreview
          ? (project.settings.emailRecipients ?? defaultPolicy)
          : 'known';
      const knownOnly = policy !== 'anyone';
      const refused = knownOnly ? await findUnknown(project, addresses, isOwnerVerified) : [];
      return { refused, knownOnly, isOwnerVerified };
    },
  };
};
