import { ApiError, type ProjectDirectory } from '@backlot/contract';
import { IdentityInvalid, type IdentitySecret, identityHeader, verifyIdentity } from '@backlot/identity';
import { type RequestHandler, Router } from 'express';

/** The gateway speaks for itself under this number, which no project has. */
const internalProjectNumber = 0;

const onlyGateway =
  (secret: IdentitySecret, now: () => number): RequestHandler =>
  (req, _res, next) => {
    try {
      const { caller, project } = verifyIdentity(req.headers[identityHeader], secret, now());
      if (caller === 'operator' && project.number === internalProjectNumber) return next();
    } catch (error) {
      if (!(error instanceof IdentityInvalid)) throw error;
    }
    throw new ApiError('unauthenticated', 'This path answers the gateway only.');
  };

/** The directory over HTTP: JSON, or 404 where it says null. */
export const internalRouter = (directory: ProjectDirectory, secret: IdentitySecret, now: () => number): Router => {
  const router = Router();
  router.use(onlyGateway(secret, now));
  router.get('/projects/:id', async (req, res) => {
    const project = await directory.findProject(req.params.id);
    if (!project) throw new ApiError('not_found', 'There is no such project.');
    res.json(project);
  });
  router.get('/keys/:hash', async (req, res) => {
    const key = await directory.findKey(req.params.hash);
    if (!key) throw new ApiError('not_found', 'There is no such key.');
    res.json(key);
  });
  return router;
};
