import { authRoutes } from '@backlot/contract';
import { z } from 'zod';

/** Whom a provider vouches for. */
export interface ProvedIdentity {
  issuer: string;
  /** Never given to anybody else by this issuer. */
  subject: string;
  email: string | null;
  /** The provider has checked that the address is theirs. */
  emailVerified: boolean;
  name: string | null;
}

export type Profile = Omit<ProvedIdentity, 'issuer'>;

/** An answer of a provider with which nobody can be signed in. */
export class NotVouched extends Error {
  override readonly name = 'NotVouched';
}

/** Asks an interface of the provider as the user who has consented. */
export type AskProvider = (url: string) => Promise<unknown>;

const { email: emailField } = authRoutes.forgotPassword.body.shape;
const { name: nameField } = authRoutes.signUp.body.shape;
const maxSubject = 255;

interface Named {
  subject: unknown;
  email: unknown;
  isVerified: boolean;
  name: unknown;
}

/** In this platform's own words; an address or a name that is none here is left out. @throws NotVouched */
const toProfile = ({ subject, email, isVerified, name }: Named): Profile => {
  if (typeof subject !== 'string' || subject === '' || subject.length > maxSubject)
    throw new NotVouched('The provider names no subject.');
  const address = emailField.safeParse(email).data ?? null;
  return {
    subject,
    email: address,
    emailVerified: address !== null && isVerified,
    name: nameField.safeParse(name).data ?? null,
  };
};

export type Claims = Readonly<Record<string, unknown>>;

/** Apple writes it as a text. */
const isTrue = (value: unknown) => value === true || value === 'true';

export const readClaims = (claims: Claims): Profile =>
  toProfile({
    subject: claims.sub,
    email: claims.email,
    isVerified: isTrue(claims.email_verified),
    name: claims.name,
  });

/**
 * Microsoft's `email` is what an administrator of any tenant has written there: it counts where Microsoft says that
 * the owner of the domain was verified (optional claim `xms_edov`).
 */
export const readMicrosoftClaims = (claims: Claims): Profile =>
  toProfile({
    subject: claims.sub,
    email: claims.email,
    isVerified: isTrue(claims.xms_edov) || claims.xms_edov === 1 || claims.xms_edov === '1',
    name: claims.name,
  });

const anything = z.unknown().optional();
const githubUser = z.object({ id: z.int().positive(), name: anything, login: anything });
const githubEmails = z.array(
  z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }),
);

/** docs.github.com/rest: `GET /user` and `GET /user/emails`. @throws NotVouched */
export const askGithub = async (ask: AskProvider): Promise<Profile> => {
  const user = githubUser.safeParse(await ask('https://api.github.com/user')).data;
  const emails = githubEmails.safeParse(await ask('https://api.github.com/user/emails')).data ?? [];
  const primary = emails.find((email) => email.primary) ?? emails[0];
  return toProfile({
    subject: user && String(user.id),
    email: primary?.email,
    isVerified: primary?.verified === true,
    name: user?.name ?? user?.login,
  });
};

const discordUser = z.object({
  id: z.string(),
  username: anything,
  global_name: anything,
  email: anything,
  verified: anything,
});

/** docs.discord.com: `GET /users/@me`. @throws NotVouched */
export const askDiscord = async (ask: AskProvider): Promise<Profile> => {
  const user = discordUser.safeParse(await ask('https://discord.com/api/users/@me')).data;
  return toProfile({
    subject: user?.id,
    email: user?.email,
    isVerified: user?.verified === true,
    name: user?.global_name ?? user?.username,
  });
};

const appleUser = z.object({
  name: z.object({ firstName: z.string().optional(), lastName: z.string().optional() }),
});

/** The name that Apple sends beside the code, the first time alone. */
export const readAppleName = (user: string | undefined): string | null => {
  if (user === undefined) return null;
  try {
    const { name } = appleUser.parse(JSON.parse(user));
    const whole = [name.firstName, name.lastName].filter(Boolean).join(' ');
    return nameField.safeParse(whole).data ?? null;
  } catch {
    return null;
  }
};
