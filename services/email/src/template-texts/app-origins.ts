import type { ProjectSnapshot } from '@backlot/contract';

/** Where mails of an app may lead, and what they may show. */
export interface AppOrigins {
  has(url: URL): boolean;
  /** Those of the app, for people. */
  names: readonly string[];
}

/** The origins that are proven to be the owner's, those that the settings list, and the project's own files. */
export const appOrigins = (
  project: Pick<ProjectSnapshot, 'id' | 'settings' | 'verifiedOrigins'>,
  publicUrl: string,
): AppOrigins => {
  const { verifiedOrigins = [], settings } = project;
  const names = [...new Set([...verifiedOrigins, ...(settings.allowedOrigins ?? [])])];
  const files = `${publicUrl}/api/runtime/${encodeURIComponent(project.id)}/storage/files/`;
  return {
    names,
    has: (url) =>
      /^https?:$/.test(url.protocol) &&
      url.username === '' &&
      url.password === '' &&
      (names.includes(url.origin) || url.href.startsWith(files)),
  };
};

export const originHint =
  'Mails of templates lead to the origins of the app: verify one (POST …/origins), or name it in the setting allowedOrigins.';
