import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ApiError, projectRoutes } from '@backlot/contract';
import type { GatewayProject } from '../../directory/gateway-project.ts';
import { checkActive, type FindProject } from './find-project.ts';

const { previewHeader, previewToken } = projectRoutes;
const nameInNode = previewHeader.toLowerCase();

/** Also where the header is empty, as a variable that was never set leaves it: such a call is not for the project itself. */
export const asksForPreview = ({ headers }: IncomingMessage): boolean =>
  headers[nameInNode] !== undefined;

const noToken = () =>
  new ApiError('invalid_header', `The header ${previewHeader} holds no token of a preview.`, {
    hint: 'POST /api/platform/projects/<id>/preview answers one, as "token".',
  });

const previewNotFound = () =>
  new ApiError(
    'project_not_found',
    `The header ${previewHeader} leads to no preview of this project.`,
    {
      hint: 'Its token is wrong or of another project, or the preview was deleted.',
    },
  );

const isSame = (secret: string, tokenHash: string): boolean => {
  const presented = hash('sha256', secret, 'buffer');
  const known = Buffer.from(tokenHash, 'base64url');
  return presented.length === known.length && timingSafeEqual(presented, known);
};

/**
 * The preview of an active project that a call names; there is no way from here to the project itself.
 * @throws ApiError invalid_header, project_not_found, project_deleted, project_paused, rate_limited, unavailable
 */
export const findPreview = async (
  { headers }: IncomingMessage,
  project: GatewayProject,
  findProject: FindProject,
  address: string,
): Promise<GatewayProject> => {
  const [token, id = ''] = previewToken.exec(String(headers[nameInNode])) ?? [];
  if (token === undefined) throw noToken();
  const found = await findProject.byId(id, address);
  const secret = token.slice(`pv_${id}_`.length);
  if (found?.preview?.of !== project.id || !isSame(secret, found.preview.tokenHash))
    throw previewNotFound();
  return checkActive(found);
};

/** Under the same address stands what the project itself answers: nobody may keep one for the other. */
export const keepFromCaches = (res: ServerResponse): void => {
  const writeHead = res.writeHead.bind(res) as (...all: unknown[]) => ServerResponse;
  res.writeHead = ((status: number, ...rest: unknown[]) => {
    const given = rest.at(-1);
    if (typeof given === 'object' && given !== null) {
      const names = Object.keys(given).filter((name) => name.toLowerCase() !== 'cache-control');
      const kept = Object.fromEntries(names.map((name) => [name, Reflect.get(given, name)]));
      rest[rest.length - 1] = { ...kept, 'Cache-Control': 'no-store' };
    } else res.setHeader('Cache-Control', 'no-store');
    return writeHead(status, ...rest);
  }) as ServerResponse['writeHead'];
};
