import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import {
  ApiError,
  isViewable,
  parseViewAs,
  type RouteDefinition,
  type UserDirectory,
  type ViewAs,
  viewAsForm,
  viewAsHeader,
} from '@backlot/contract';
import { anonymous, type Caller } from '../../directory/caller.ts';

const nameInNode = viewAsHeader.toLowerCase();

/** Also where the header is empty: such a call is not for the owner's own eyes. */
export const asksForView = ({ headers }: IncomingMessage): boolean =>
  headers[nameInNode] !== undefined;

export const viewRefused = (what: string): ApiError =>
  new ApiError('invalid_header', `The header ${viewAsHeader} ${what}`, {
    hint: 'It shows the owner of a project what another caller would get: GET /db, /storage, /groups, /users, /products and /payments of the runtime plane.',
  });

const notTheOwner = ({ kind }: Caller): ApiError =>
  new ApiError(
    kind === 'anonymous' ? 'unauthenticated' : 'forbidden',
    `The header ${viewAsHeader} takes the token of the project's owner.`,
  );

/** Undefined where the call may be judged as another caller's. */
export const refuseView = (
  req: IncomingMessage,
  definition: RouteDefinition,
  caller: Caller,
): ApiError | undefined => {
  if (definition.plane === 'runtime' && caller.kind !== 'owner') return notTheOwner(caller);
  if (req.method !== 'GET') return viewRefused('goes with GET alone.');
  if (!isViewable(definition)) return viewRefused('does not go with this call.');
  return parseViewAs(String(req.headers[nameInNode]))
    ? undefined
    : viewRefused(`must be ${viewAsForm}.`);
};

const withRole = (role: string): Caller => ({
  ...anonymous,
  kind: 'user',
  // Nobody's: nothing was ever made by or shared with them.
  userId: randomUUID(),
  role,
  emailVerified: true,
  hasSecondFactor: true,
});

const findUser = async (users: UserDirectory, projectNumber: number, userId: string) => {
  try {
    return await users.findRoleAndGroups(projectNumber, userId);
  } catch (cause) {
    const message = 'Accounts can not be asked right now. Try again shortly.';
    throw new ApiError('unavailable', message, { cause, retryAfterSeconds: 2 });
  }
};

export interface View {
  /** As whom the call is judged, without a session. */
  caller: Caller;
  /** How the header names them. */
  name: string;
}

/**
 * Whom the header names, as they are now.
 * @throws ApiError not_found, unavailable
 */
export const findView = async (
  req: IncomingMessage,
  users: UserDirectory,
  projectNumber: number,
): Promise<View> => {
  const name = String(req.headers[nameInNode]);
  const view: ViewAs | undefined = parseViewAs(name);
  if (!view || view.kind === 'stranger') return { caller: anonymous, name };
  if (view.kind === 'role') return { caller: withRole(view.role), name };
  const found = await findUser(users, projectNumber, view.id);
  if (!found)
    throw new ApiError('not_found', `The header ${viewAsHeader} names no user of this project.`);
  const { role, groups, emailVerified, isBlocked } = found;
  const caller: Caller = {
    ...anonymous,
    kind: 'user',
    userId: view.id,
    role,
    hasSecondFactor: true,
    ...(groups.length > 0 && { groups: [...groups] }),
    ...(emailVerified !== undefined && { emailVerified }),
    ...(isBlocked && { blocked: { reason: null, until: null } }),
  };
  return { caller, name };
};
