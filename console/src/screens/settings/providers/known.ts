export interface KnownProvider {
  name: string;
  label: string;
  /** Where one gets a client, step by step. */
  steps: string;
  url: string;
}

export const knownProviders: readonly KnownProvider[] = [
  {
    name: 'google',
    label: 'Google',
    steps: 'APIs & Services, Credentials, Create OAuth client ID, type “Web application”.',
    url: 'https://console.cloud.google.com/apis/credentials',
  },
  {
    name: 'github',
    label: 'GitHub',
    steps: 'Developer settings, OAuth Apps, New OAuth app.',
    url: 'https://github.com/settings/developers',
  },
  {
    name: 'microsoft',
    label: 'Microsoft',
    steps: 'App registrations, New registration, platform “Web”; then a client secret.',
    url: 'https://entra.microsoft.com',
  },
  {
    name: 'apple',
    label: 'Apple',
    steps: 'A Services ID with Sign in with Apple, and a key: its file (.p8) is the secret.',
    url: 'https://developer.apple.com/account/resources',
  },
  {
    name: 'discord',
    label: 'Discord',
    steps: 'New application, OAuth2: the client’s id and secret.',
    url: 'https://discord.com/developers/applications',
  },
];

/** The one address to which all of these lead browsers back. */
export const callbackUrl = (): string =>
  `${location.origin}/api/runtime/platform/auth/oauth/callback`;
