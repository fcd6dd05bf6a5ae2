import {
  type AccountDirectory,
  ApiError,
  callers,
  mostPeopleAsked,
  type PeopleDirectory,
  type SessionDirectory,
  type UserDirectory,
} from '@backlot/contract';
import express, { Router } from 'express';
import { z } from 'zod';

const projectNumber = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const addresses = z.object({ emails: z.array(z.string().max(320)).max(100) });
const address = z.object({ email: z.string().max(320) });
const sessionPath = z.object({ projectNumber, sessionId: z.uuid() });
const peopleAsking = z.object({
  projectNumber,
  caller: z.enum(callers),
  userId: z.string().nullable(),
  ids: z.array(z.string().max(100)).max(mostPeopleAsked),
  hasPublicProfiles: z.boolean(),
});
const accountPath = z.object({ projectNumber, userId: z.uuid() });

/** The platform's own questions, as these directories put them, over HTTP. */
export const internalRoutes = ({
  sessions,
  accounts,
  users,
  people,
}: {
  sessions: SessionDirectory;
  accounts: AccountDirectory;
  users: UserDirectory;
  people: PeopleDirectory;
}): Router => {
  const router = Router();
  router.get('/sessions/:projectNumber/:sessionId', async (req, res) => {
    const path = sessionPath.safeParse(req.params);
    const session =
      path.success && (await sessions.findSession(path.data.projectNumber, path.data.sessionId));
    res.json(session ? { live: true, ...session } : { live: false });
  });
  router.post('/accounts/:projectNumber/registered', express.json(), async (req, res) => {
    const project = projectNumber.safeParse(req.params.projectNumber);
    const body = addresses.safeParse(req.body);
    if (!project.success || !body.success)
      throw new ApiError('invalid_body', 'Send at most 100 addresses in "emails".');
    res.json({ emails: await accounts.registered(project.data, body.data.emails) });
  });
  router.post('/users/:projectNumber/holder', express.json(), async (req, res) => {
    const project = projectNumber.safeParse(req.params.projectNumber);
    const body = address.safeParse(req.body);
    if (!project.success || !body.success)
      throw new ApiError('invalid_body', 'Send an address as "email".');
    res.json({ userId: await users.findHolder(project.data, body.data.email) });
  });
  router.post('/people', express.json(), async (req, res) => {
    const { data } = peopleAsking.safeParse(req.body);
    if (!data) throw new ApiError('invalid_body', 'Send who asks, and for which users.');
    res.json(await people.findPeople(data));
  });
  router.get('/users/:projectNumber/:userId', async (req, res) => {
    const path = accountPath.safeParse(req.params);
    const user =
      path.success && (await users.findRoleAndGroups(path.data.projectNumber, path.data.userId));
    if (!user) throw new ApiError('not_found', 'There is no such user.');
    res.json(user);
  });
  router.get('/accounts/:projectNumber/:userId', async (req, res) => {
    const path = accountPath.safeParse(req.params);
    const account =
      path.success && (await accounts.findAccount(path.data.projectNumber, path.data.userId));
    if (!account) throw new ApiError('not_found', 'There is no such account.');
    res.json(account);
  });
  return router;
};
