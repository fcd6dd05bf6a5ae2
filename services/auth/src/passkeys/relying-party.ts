import { ApiError, type ProjectDirectory, platformProject } from '@backlot/contract';
import type { IdentityProject } from '@backlot/identity';

/** Where a passkey is made and shown: browsers hold it to this host. */
export interface RelyingParty {
  origin: string;
  host: string;
  /** Of the app, as browsers show it. */
  name: string;
}

const isLoopback = (host: string) => host === 'localhost' || host.endsWith('.localhost');

const notProven = (origin: string) =>
  new ApiError('origin_unproven', `Passkeys do not work at ${origin} yet.`, {
    hint: 'They work at the platform\'s own address, at origins that are proven to be the owner\'s (POST /api/platform/projects/<project>/origins), and on the own machine where the setting "allowedOrigins" lists it.',
  });

const readOrigin = (origin: string): URL | undefined => {
  const url = URL.canParse(origin) ? new URL(origin) : undefined;
  return url?.origin === origin ? url : undefined;
};

interface RelyingPartyOptions {
  projects: ProjectDirectory;
  /** Where the gateway is reached from outside. */
  publicUrl: string;
}

/**
 * Whether passkeys of a project work on pages of an origin: a page of somebody else's could else have a
 * visitor sign in to the app for it.
 */
export const createFindRelyingParty = ({ projects, publicUrl }: RelyingPartyOptions) => {
  const own = new URL(publicUrl);

  const isOfApp = async ({ id }: IdentityProject, { origin, hostname }: URL): Promise<boolean> => {
    if (id === platformProject.id) return false;
    const project = await projects.findProject(id);
    if (project?.verifiedOrigins?.includes(origin)) return true;
    return isLoopback(hostname) && project?.settings.allowedOrigins?.includes(origin) === true;
  };

  /**
   * @param origin of the page; the platform's own where a call names none
   * @throws ApiError origin_unproven
   */
  return async (project: IdentityProject, origin = own.origin): Promise<RelyingParty> => {
    const page = readOrigin(origin);
    const isKnown = page && (page.origin === own.origin || (await isOfApp(project, page)));
    if (!isKnown) throw notProven(origin.slice(0, 100));
    return { origin, host: page.hostname, name: project.name };
  };
};

export type FindRelyingParty = ReturnType<typeof createFindRelyingParty>;
