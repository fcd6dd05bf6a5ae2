import type { MountedRoute } from '@backlot/http';
import type { Features } from '../features.ts';
import { changePassword } from './change-password.ts';
import { forgotPassword, resetPassword, verifyEmail } from './links.ts';
import { deleteMe, getMe, updateMe } from './me.ts';
import { getJwks, refreshToken, signOut } from './sessions.ts';
import { signIn } from './sign-in.ts';
import { signUp } from './sign-up.ts';
import { deleteUser, listOwners, listUsers, updateUser } from './users.ts';

export const authServiceRoutes = (features: Features): MountedRoute[] => [
  signUp(features),
  signIn(features),
  getMe(features),
  updateMe(features),
  deleteMe(features),
  refreshToken(features),
  signOut(features),
  changePassword(features),
  forgotPassword(features),
  resetPassword(features),
  verifyEmail(features),
  getJwks(features),
  listUsers(features),
  updateUser(features),
  deleteUser(features),
  listOwners(features),
];
