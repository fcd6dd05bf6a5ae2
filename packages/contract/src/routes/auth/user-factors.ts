import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { idInPath, ok } from '../../schemas.ts';
import { linkedIdentity } from '../oauth/identities.ts';
import { factorList } from './factors.ts';
import { passkey } from './passkeys.ts';

const ofOwner = {
  service: 'auth',
  plane: 'platform',
  path: '/projects/:projectId/users/:userId/factors',
  callers: ['owner', 'operator'],
  params: z.object({ projectId: idInPath, userId: idInPath }),
  status: 200,
  errors: ['not_found'],
} as const;

export const listUserFactors = defineRoute({
  ...ofOwner,
  operationId: 'listUserFactors',
  method: 'GET',
  summary: 'Second factors, passkeys and linked accounts of a user',
  limit: 'read',
  response: factorList.extend({ passkeys: z.array(passkey), identities: z.array(linkedIdentity) }),
});

export const resetUserFactors = defineRoute({
  ...ofOwner,
  operationId: 'resetUserFactors',
  operatorScope: 'support',
  method: 'DELETE',
  summary: 'Forget second factors and passkeys of a user who has lost them; every session ends',
  limit: 'write',
  response: ok,
});

export const deleteUserFactor = defineRoute({
  ...ofOwner,
  path: '/projects/:projectId/users/:userId/factors/:id',
  params: z.object({ projectId: idInPath, userId: idInPath, id: idInPath }),
  operationId: 'deleteUserFactor',
  operatorScope: 'support',
  method: 'DELETE',
  summary: 'Forget one factor, passkey or linked account of a user; every session ends',
  limit: 'write',
  response: ok,
});
