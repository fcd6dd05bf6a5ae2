import type { MountedRoute } from '@backlot/http';
import type { Features } from '../features.ts';
import {
  deleteAuthProvider,
  getAuthProvider,
  listSetProviders,
  setAuthProvider,
} from './auth-providers.ts';
import { requestCode, showSignInLink, verifyCode } from './codes.ts';
import {
  changeEmail,
  confirmEmailChange,
  resendVerification,
  verifyEmail,
} from './email-address.ts';
import { confirmTotp, createTotp, deleteFactor, listFactors, verifyFactor } from './factors.ts';
import {
  inviteToGroup,
  joinGroup,
  listGroupInvites,
  revokeGroupInvite,
  showInvitation,
} from './group-invites.ts';
import { listGroupMembers, removeGroupMember, updateGroupMember } from './group-members.ts';
import { createGroup, deleteGroup, getGroup, listGroups, updateGroup } from './groups.ts';
import { createGuest } from './guests.ts';
import { checkReturn, handOverSession, takeSession } from './handover.ts';
import { linkIdentity, listIdentities, unlinkIdentity } from './identities.ts';
import { deleteMe, getMe, updateMe } from './me.ts';
import {
  beginOauth,
  exchangeOauthCode,
  finishOauth,
  finishOauthForm,
  finishOwnOauth,
  listAuthProviders,
} from './oauth.ts';
import {
  addPasskey,
  createPasskeyOptions,
  createPasskeySignIn,
  deletePasskey,
  listPasskeys,
  renamePasskey,
  signInWithPasskey,
} from './passkeys.ts';
import { changePassword, forgotPassword, resetPassword } from './passwords.ts';
import { findUsers, moderateUser } from './people.ts';
import { reauthenticate } from './reauthenticate.ts';
import { renewRecoveryCodes } from './renew-recovery-codes.ts';
import {
  endMySession,
  endOtherSessions,
  getJwks,
  listMySessions,
  refreshToken,
  signOut,
} from './sessions.ts';
import { signIn } from './sign-in.ts';
import { listMyEvents, listUserEvents } from './sign-in-events.ts';
import { signUp } from './sign-up.ts';
import { deleteUserFactor, listUserFactors, resetUserFactors } from './user-factors.ts';
import { endUserSession, endUserSessions, listSignUps, listUserSessions } from './user-sessions.ts';
import { deleteUser, exportUser, getUser, listOwners, listUsers, updateUser } from './users.ts';

export const authServiceRoutes = (features: Features): MountedRoute[] => [
  signUp(features),
  signIn(features),
  createPasskeyOptions(features),
  addPasskey(features),
  listPasskeys(features),
  renamePasskey(features),
  deletePasskey(features),
  createPasskeySignIn(features),
  signInWithPasskey(features),
  createTotp(features),
  confirmTotp(features),
  listFactors(features),
  deleteFactor(features),
  renewRecoveryCodes(features),
  verifyFactor(features),
  listUserFactors(features),
  resetUserFactors(features),
  deleteUserFactor(features),
  createGuest(features),
  requestCode(features),
  showSignInLink(features),
  verifyCode(features),
  getMe(features),
  updateMe(features),
  deleteMe(features),
  refreshToken(features),
  reauthenticate(features),
  signOut(features),
  changePassword(features),
  changeEmail(features),
  confirmEmailChange(features),
  forgotPassword(features),
  resetPassword(features),
  verifyEmail(features),
  resendVerification(features),
  getJwks(features),
  listAuthProviders(features),
  beginOauth(features),
  finishOauth(features),
  finishOauthForm(features),
  finishOwnOauth(features),
  exchangeOauthCode(features),
  checkReturn(features),
  handOverSession(features),
  takeSession(features),
  listIdentities(features),
  linkIdentity(features),
  unlinkIdentity(features),
  listSetProviders(features),
  setAuthProvider(features),
  getAuthProvider(features),
  deleteAuthProvider(features),
  listUsers(features),
  getUser(features),
  exportUser(features),
  updateUser(features),
  deleteUser(features),
  listUserSessions(features),
  endUserSessions(features),
  endUserSession(features),
  listSignUps(features),
  listMySessions(features),
  endOtherSessions(features),
  endMySession(features),
  listMyEvents(features),
  listUserEvents(features),
  listOwners(features),
  createGroup(features),
  listGroups(features),
  getGroup(features),
  updateGroup(features),
  deleteGroup(features),
  showInvitation(features),
  joinGroup(features),
  listGroupMembers(features),
  updateGroupMember(features),
  removeGroupMember(features),
  inviteToGroup(features),
  listGroupInvites(features),
  revokeGroupInvite(features),
  findUsers(features),
  moderateUser(features),
];
