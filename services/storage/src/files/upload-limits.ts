import { ApiError, type ProjectSettings } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { roleInGroup, runsProject } from './file.ts';

/** The project's setting `storage`: what those may upload who do not run the project. */
export type UploadLimits = NonNullable<ProjectSettings['storage']>;

const none: UploadLimits = {};

const hint = ({ project }: Identity, what: string): string =>
  `The project's owner sets it: PATCH /api/platform/projects/${project.id} {"settings": {"storage": {"${what}": …}}}.`;

export const findUploadLimits = (identity: Identity): UploadLimits =>
  runsProject(identity) ? none : ((identity.project.settings.storage as UploadLimits) ?? none);

export const tooLarge = (identity: Identity, bytes: number): ApiError =>
  new ApiError('body_too_large', `A file may have at most ${bytes} bytes here.`, {
    hint: hint(identity, 'maxBytes'),
  });

export const keepsTooMuch = (identity: Identity, bytes: number): ApiError =>
  new ApiError('storage_quota', `Your files may have ${bytes} bytes in all.`, {
    hint: `Delete files that you no longer need. ${hint(identity, 'perUser')}`,
  });

const isAmong = (mediaType: string, types: readonly string[]): boolean => {
  const [type = ''] = mediaType.toLowerCase().split(';');
  return types.some((one) =>
    one.endsWith('/*') ? type.trim().startsWith(one.slice(0, -1)) : type.trim() === one,
  );
};

/** @param mediaType told from the content @throws ApiError unsupported_media_type */
export const checkType = (identity: Identity, { types }: UploadLimits, mediaType: string): void => {
  if (types === undefined || isAmong(mediaType, types)) return;
  throw new ApiError(
    'unsupported_media_type',
    `Files of the type ${mediaType} are not taken here, but ${types.join(', ') || 'none'}.`,
    { hint: `The type is told from the content, not from the name. ${hint(identity, 'types')}` },
  );
};

/** Who manages a group puts files into it whatever the project says. */
const managingRoles = ['owner', 'admin'];

/** Whether the caller may upload a file for this group. @throws ApiError unauthenticated, forbidden */
export const checkGroup = (identity: Identity, groupId: string | null): void => {
  if (groupId === null || runsProject(identity)) return;
  if (identity.caller === 'anonymous') throw new ApiError('unauthenticated', 'Sign in first.');
  const role = roleInGroup(identity, groupId);
  if (role === undefined)
    throw new ApiError('forbidden', '"groupId": you are not a member of this group.', {
      hint: 'GET /groups lists yours. One that was joined just now is known everywhere within 5 seconds.',
    });
  const { groupRoles = [role] } = findUploadLimits(identity);
  if ([...managingRoles, ...groupRoles].includes(role)) return;
  throw new ApiError(
    'forbidden',
    `"groupId": your role "${role}" in this group uploads no files for it.`,
    { hint: hint(identity, 'groupRoles') },
  );
};
