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
  const isVerifiedOwner = async (email: string) =>
    (await accounts.registered(platformProject.number, [email])).length > 0;

  const findUnknown = async (
    project: IdentityProject,
    addresses: readonly string[],
    countsAllowList: boolean,
  ): Promise<string[]> => {
    const snapshot = await projects.findProject(project.id);
    const allowed = new Set(
      (countsAllowList ? (snapshot?.settings.emailAllowList ?? []) : []).map(normalizeEmail),
    );
    const unlisted = addresses.filter((address) => !allowed.has(normalizeEmail(address)));
    if (unlisted.length === 0) return [];
    const known = new Set(await accounts.registered(project.number, unlisted.map(normalizeEmail)));
    const unknown = unlisted.filter((address) => !known.has(normalizeEmail(address)));
    if (unknown.length === 0 || !snapshot?.ownerId) return unknown;
    const owner = await accounts.findAccount(platformProject.number, snapshot.ownerId);
    const others = unknown.filter((address) => normalizeEmail(address) !== owner?.email);
    if (others.length === unknown.length || !owner) return unknown;
    return (await isVerifiedOwner(owner.email)) ? others : unknown;
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
      return (await accounts.findAccount(platformProject.number, ownerId))?.email;
    },

    /**
     * Those of the addresses to whom the project may not send. While its owner is not verified, settings
     * open it to nobody: it sends to verified addresses of its users and its owner.
     * @throws ApiError unavailable
     */
    async findRefused(
      project: IdentityProject,
      addresses: readonly string[],
    ): Promise<{ refused: string[]; isOwnerVerified: boolean }> {
      const isOwnerVerified = await mayWriteToStrangers(project);
      const policy = isOwnerVerified
        ? (project.settings.emailRecipients ?? defaultPolicy)
        : 'known';
      const refused =
        policy === 'anyone' ? [] : await findUnknown(project, addresses, isOwnerVerified);
      return { refused, isOwnerVerified };
    },
  };
};
