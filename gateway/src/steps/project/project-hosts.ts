import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { ApiError } from '@backlot/contract';
import type { FailedLookups } from '../../addresses/failed-lookups.ts';
import type { LookupCache } from '../../directory/lookup-cache.ts';
import type { FindProject } from './find-project.ts';

export interface ProjectHosts {
  /**
   * The id that a call's host name gives: a name below the setting's, of whatever project, or an owner's own. Undefined
   * at the installation's names, and at those that belong to nobody.
   * @throws ApiError rate_limited, unavailable
   */
  find(req: IncomingMessage, address: string): string | undefined | Promise<string | undefined>;
  /** Whether something is served at the name: what a proxy asks before it orders a certificate. */
  serves(name: string, address: string): Promise<boolean>;
}

interface ProjectHostsDeps {
  /** `.apps.example.com`; undefined where projects have no host names. */
  suffix: string | undefined;
  publicUrl: string;
  /** Owners' own host names. */
  hosts: LookupCache<{ projectId: string }>;
  findProject: FindProject;
  failedLookups: FailedLookups;
}

/** RFC 1123, section 2.1, with at least one dot: other names are of the operator's network. */
const publicName = /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]*$/;

const hostName = (host: string) => host.toLowerCase().replace(/:\d+$/, '').replace(/\.$/, '');

export const nothingAtHost = (publicUrl: string) =>
  new ApiError(
    'route_not_found',
    'At the host name of a project there is its API alone, below /api.',
    {
      hint: `Pages and the control plane are at ${publicUrl}.`,
    },
  );

export const createProjectHosts = ({
  suffix,
  publicUrl,
  hosts,
  findProject,
  failedLookups,
}: ProjectHostsDeps): ProjectHosts => {
  const ownName = new URL(publicUrl).hostname;

  const findId = (name: string, address: string) => {
    if (suffix === undefined || name === ownName || isIP(name) !== 0) return undefined;
    if (name.endsWith(suffix)) return name.slice(0, -suffix.length);
    if (!publicName.test(name)) return undefined;
    const known = hosts.peek(name);
    if (known !== undefined) return known?.projectId;
    return failedLookups.run(address, () => hosts.load(name)).then((found) => found?.projectId);
  };

  return {
    find: (req, address) =>
      suffix === undefined ? undefined : findId(hostName(req.headers.host ?? ''), address),
    async serves(name, address) {
      if (name === ownName) return true;
      const id = await findId(name, address);
      return id !== undefined && (await findProject.byId(id, address)) !== null;
    },
  };
};
