import { z } from 'zod';
import { defineRoute } from '../../define-route.ts';
import { displayName, idInPath, listOf, ok, text, timestamp } from '../../schemas.ts';
import { providerLabel } from './provider-fields.ts';

const platform = {
  service: 'auth',
  plane: 'platform',
  callers: ['owner', 'operator'],
  status: 200,
} as const;

/** Of one project. */
export const maxAuthProviders = 20;

const provider = z
  .object({
    name: z.string(),
    label: providerLabel,
    setBy: z
      .enum(['owner', 'operator'])
      .describe('operator: the client of this installation, while the owner has set none'),
    isOn: z.boolean(),
    issuer: z.string(),
    clientId: z.string().nullable().describe('Null where it is the operator’s, or switched off'),
    hint: z.string().nullable().describe('The end of the client secret'),
    callbackUrl: z.string().describe('To be registered with the provider'),
    updatedAt: timestamp.nullable(),
  })
  .meta({ id: 'ProjectAuthProvider' });

const issuer = z
  .string()
  .max(500, { abort: true })
  .refine(
    (value) =>
      URL.canParse(value) &&
      /^https?:$/.test(new URL(value).protocol) &&
      new URL(value).search === '' &&
      new URL(value).hash === '' &&
      new URL(value).username === '' &&
      new URL(value).password === '',
    'must be the address of an OpenID provider, such as https://login.example.org',
  )
  .describe('Of any OpenID provider; of microsoft: of one tenant. Others are known');

const choice = z
  .strictObject({
    clientId: text(1, 300).optional(),
    clientSecret: text(1, 4000)
      .optional()
      .describe('Of apple: the key file (.p8) of the team, or a secret made with it'),
    issuer: issuer.optional(),
    label: displayName(40).optional(),
    teamId: text(1, 20).optional().describe('Of apple, with the key file'),
    keyId: text(1, 20).optional().describe('Of apple, with the key file'),
    off: z.literal(true).optional().describe('Instead: nobody signs in here with this provider'),
  })
  .superRefine(({ off, ...client }, context) => {
    const needed = off ? [] : (['clientId', 'clientSecret'] as const);
    for (const field of needed)
      if (client[field] === undefined)
        context.addIssue({ code: 'custom', path: [field], message: 'is needed' });
    if (off && Object.values(client).some((value) => value !== undefined))
      context.addIssue({ code: 'custom', path: ['off'], message: 'stands alone' });
  });

const path = '/projects/:projectId/auth-providers';
const one = z.object({ projectId: idInPath, name: z.string().min(1) });

export const listSetProviders = defineRoute({
  ...platform,
  operationId: 'listSetProviders',
  memberRole: 'admin',
  method: 'GET',
  path,
  summary: 'Who else signs users of the project in, and with which clients',
  limit: 'read',
  params: z.object({ projectId: idInPath }),
  response: listOf(provider),
  errors: [],
});

export const setAuthProvider = defineRoute({
  ...platform,
  operationId: 'setAuthProvider',
  method: 'PUT',
  path: `${path}/:name`,
  summary:
    'The project’s own client at google, github, microsoft, apple, discord, or, under another name, at any OpenID issuer; its secret is never shown again',
  limit: 'write',
  params: one,
  body: choice,
  response: provider,
  errors: ['invalid_path', 'invalid_body', 'limit_reached', 'upstream_failed', 'overloaded'],
});

export const getAuthProvider = defineRoute({
  ...platform,
  operationId: 'getAuthProvider',
  memberRole: 'admin',
  method: 'GET',
  path: `${path}/:name`,
  summary: 'One of them, without its secret',
  limit: 'read',
  params: one,
  response: provider,
  errors: ['not_found'],
});

export const deleteAuthProvider = defineRoute({
  ...platform,
  operationId: 'deleteAuthProvider',
  method: 'DELETE',
  path: `${path}/:name`,
  summary:
    'Forget the client; of google and github the operator’s counts again, where there is one',
  limit: 'write',
  params: one,
  response: ok,
  errors: ['not_found'],
});
