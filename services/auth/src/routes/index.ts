import type { MountedRoute } from '@backlot/http';
import type { Nouns } from '../nouns.ts';
import { changePassword } from './change-password.ts';
import { deleteMe } from './delete-me.ts';
import { deleteUser } from './delete-user.ts';
import { forgotPassword } from './forgot-password.ts';
import { getJwks } from './get-jwks.ts';
import { getMe } from './get-me.ts';
import { listOwners } from './list-owners.ts';
import { listUsers } from './list-users.ts';
import { refreshToken } from './refresh-token.ts';
import { resetPassword } from './reset-password.ts';
import { signIn } from './sign-in.ts';
import { signOut } from './sign-out.ts';
import { signUp } from './sign-up.ts';
import { updateMe } from './update-me.ts';
import { updateUser } from './update-user.ts';
import { verifyEmail } from './verify-email.ts';

export const authServiceRoutes = (nouns: Nouns): MountedRoute[] => [
  signUp(nouns),
  signIn(nouns),
  getMe(nouns),
  updateMe(nouns),
  deleteMe(nouns),
  refreshToken(nouns),
  signOut(nouns),
  changePassword(nouns),
  forgotPassword(nouns),
  resetPassword(nouns),
  verifyEmail(nouns),
  getJwks(nouns),
  listUsers(nouns),
  updateUser(nouns),
  deleteUser(nouns),
  listOwners(nouns),
];
