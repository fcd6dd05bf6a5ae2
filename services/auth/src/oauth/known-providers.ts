import type { ServerMetadata } from 'openid-client';
import {
  type AskProvider,
  askDiscord,
  askGithub,
  type Claims,
  type Profile,
  readClaims,
  readMicrosoftClaims,
} from './profiles.ts';

/** A provider that needs no more than a client. */
export interface KnownProvider {
  label: string;
  issuer: string;
  /** An issuer that an owner may set instead: one tenant. */
  mayName?: RegExp;
  scope: string;
  /** Of the request, beside those that all have. A chooser stands before any account is told, also by the operator's client. */
  parameters?: Readonly<Record<string, string>>;
  /** Where it is no OpenID provider: what else it publishes. */
  metadata?: ServerMetadata;
  readClaims?: (claims: Claims) => Profile;
  /** Instead of claims. */
  askProfile?: (ask: AskProvider) => Promise<Profile>;
  /** Its secret is made of a key, for a while. */
  signsSecret?: true;
}

const chooser = { prompt: 'select_account' };

export const knownProviders: Readonly<Record<string, KnownProvider>> = {
  google: {
    label: 'Google',
    issuer: 'https://accounts.google.com',
    scope: 'openid email profile',
    parameters: chooser,
  },
  github: {
    label: 'GitHub',
    issuer: 'https://github.com/login/oauth',
    scope: 'read:user user:email',
    parameters: chooser,
    metadata: {
      issuer: 'https://github.com/login/oauth',
      authorization_endpoint: 'https://github.com/login/oauth/authorize',
      token_endpoint: 'https://github.com/login/oauth/access_token',
    },
    askProfile: askGithub,
  },
  microsoft: {
    label: 'Microsoft',
    issuer: 'https://login.microsoftonline.com/common/v2.0',
    mayName: /^https:\/\/login\.microsoftonline\.com\/[\w.-]+\/v2\.0$/,
    scope: 'openid email profile',
    parameters: chooser,
    readClaims: readMicrosoftClaims,
  },
  apple: {
    label: 'Apple',
    issuer: 'https://appleid.apple.com',
    scope: 'openid name email',
    parameters: { response_mode: 'form_post' },
    signsSecret: true,
  },
  discord: {
    label: 'Discord',
    issuer: 'https://discord.com',
    scope: 'identify email',
    metadata: {
      issuer: 'https://discord.com',
      authorization_endpoint: 'https://discord.com/api/oauth2/authorize',
      token_endpoint: 'https://discord.com/api/oauth2/token',
      authorization_response_iss_parameter_supported: true,
    },
    askProfile: askDiscord,
  },
};

/** Of any OpenID provider that an owner names by its issuer. */
export const openIdProvider: Omit<KnownProvider, 'label' | 'issuer'> = {
  scope: 'openid email profile',
  readClaims,
};

export const findKnown = (name: string): KnownProvider | undefined =>
  Object.hasOwn(knownProviders, name) ? knownProviders[name] : undefined;
