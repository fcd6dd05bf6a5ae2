import type { RouteDefinition } from '../define-route.ts';
import { isUuid } from '../schemas.ts';

/** On a GET by the project's owner: the call is judged as this caller's would be. */
export const viewAsHeader = 'Backlot-View-As';

/** As whom an owner looks: a stranger, a user by their id, or anybody signed in who has a role. */
export type ViewAs = { kind: 'stranger' } | { kind: 'user'; id: string } | RoleView;
interface RoleView {
  kind: 'role';
  role: string;
}

/** How such a caller is written, in a sentence for errors. */
export const viewAsForm = '"stranger", "user:<id>" or "role:<name>"';

/** Of the calls by GET. Pages take cookies, streams have no end, and `getMe` shows a session. */
export const isViewable = ({ plane, answers, operationId }: RouteDefinition): boolean =>
  plane === 'runtime' && answers !== 'html' && answers !== 'events' && operationId !== 'getMe';

const role = /^[a-z][a-z0-9_-]{0,31}$/;

/** Undefined where the text names nobody. */
export const parseViewAs = (text: string): ViewAs | undefined => {
  if (text === 'stranger') return { kind: 'stranger' };
  if (text.startsWith('user:') && isUuid(text.slice(5)))
    return { kind: 'user', id: text.slice(5).toLowerCase() };
  if (text.startsWith('role:') && role.test(text.slice(5)))
    return { kind: 'role', role: text.slice(5) };
  return undefined;
};
