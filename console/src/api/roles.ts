import { memberRoles, neededRoles } from 'virtual:contract';
import type { MemberRole } from '@backlot/contract';
import { createContext, useContext } from 'react';
import type { OperationId } from './operation-types.ts';

export const roleWords: Readonly<Record<MemberRole, string>> = {
  viewer: 'a viewer',
  editor: 'an editor',
  admin: 'an admin',
  owner: 'the owner',
};

/** Why this role may not call it, in words; undefined where it may. */
export const whyNot = (role: MemberRole | undefined, name: OperationId): string | undefined => {
  const needed = neededRoles[name];
  if (!role || !needed || memberRoles.indexOf(role) >= memberRoles.indexOf(needed))
    return undefined;
  return `You are ${roleWords[role]} of this project; this takes ${roleWords[needed]}.`;
};

/** Code of the error in place of a call that one's role may not make. */
export const roleRefused = 'role_refused';

/** "takes an admin" */
export const takesRole = (name: OperationId): string =>
  `takes ${roleWords[neededRoles[name] ?? 'viewer']}`;

/** What whoever is signed in is in the project whose screens these are; undefined until it is known. */
export const RoleHere = createContext<MemberRole | undefined>(undefined);
export const useRole = (): MemberRole | undefined => useContext(RoleHere);

/** `why('createKey')` is the reason why one may not; undefined where one may. */
export const useWhyNot = () => {
  const role = useRole();
  return (name: OperationId) => whyNot(role, name);
};
