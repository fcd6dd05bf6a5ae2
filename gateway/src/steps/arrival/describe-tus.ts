import type { IncomingMessage, ServerResponse } from 'node:http';
import { storageRoutes } from '@backlot/contract';
import type { FindProject } from '../project/find-project.ts';

const tusAddress = /^\/api\/runtime\/([^/?#]+)\/storage\/tus(?:\/[^/?#]*)?(?:\?|$)/;
const { tusVersion, tusExtensions, defaultUploadBytes } = storageRoutes;

/**
 * What a client of tus 1.0.0 asks before it sends: versions, extensions, and the largest upload of the
 * project. A browser's preflight asks something else, and costs no look-up.
 * @throws ApiError rate_limited, unavailable
 */
export const describeTus = async (
  { url = '', headers }: IncomingMessage,
  res: ServerResponse,
  findProject: FindProject,
  address: string,
): Promise<void> => {
  const [, projectId] = tusAddress.exec(url) ?? [];
  if (projectId === undefined || headers['access-control-request-method'] !== undefined) return;
  const project = await findProject.byId(projectId, address);
  res.setHeader('Tus-Resumable', tusVersion);
  res.setHeader('Tus-Version', tusVersion);
  res.setHeader('Tus-Extension', tusExtensions);
  const exposed = res.getHeader('Access-Control-Expose-Headers');
  res.setHeader(
    'Access-Control-Expose-Headers',
    `${exposed}, Tus-Version, Tus-Extension, Tus-Max-Size`,
  );
  res.setHeader(
    'Tus-Max-Size',
    Number(project?.identity.settings.maxUploadBytes ?? defaultUploadBytes),
  );
};
