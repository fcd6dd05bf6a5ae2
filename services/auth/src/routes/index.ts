import type { MountedRoute } from '@backlot/http';
import type { Features } from '../features.ts';
import { changeEmail, confirmEmailChange, verifyEmail } from './email-address.ts';
import { inviteToGroup, joinGroup, listGroupInvites, revokeGroupInvite } from './group-invites.ts';
import { listGroupMembers, removeGroupMember, updateGroupMember } from './group-members.ts';
import { createGroup, deleteGroup, listGroups, updateGroup } from './groups.ts';
import { deleteMe, getMe, updateMe } from './me.ts';
import { changePassword, forgotPassword, resetPassword } from './passwords.ts';
import { findUsers, setUserRole } from './people.ts';
import { getJwks, refreshToken, signOut } from './sessions.ts';
import { signIn } from './sign-in.ts';
import { signUp } from './sign-up.ts';
import { deleteUser, getUser, listOwners, listUsers, updateUser } from './users.ts';

export const authServiceRoutes = (features: Features): MountedRoute[] => [
  signUp(features),
  signIn(features),
  getMe(features),
  updateMe(features),
  deleteMe(features),
  refreshToken(features),
  signOut(features),
  changePassword(features),
  changeEmail(features),
  confirmEmailChange(features),
  forgotPassword(features),
  resetPassword(features),
  verifyEmail(features),
  getJwks(features),
  listUsers(features),
  getUser(features),
  updateUser(features),
  deleteUser(features),
  listOwners(features),
  createGroup(features),
  listGroups(features),
  updateGroup(features),
  deleteGroup(features),
  joinGroup(features),
  listGroupMembers(features),
  updateGroupMember(features),
  removeGroupMember(features),
  inviteToGroup(features),
  listGroupInvites(features),
  revokeGroupInvite(features),
  findUsers(features),
  setUserRole(features),
];
