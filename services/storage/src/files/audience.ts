import { type ApiError, storageRoutes, type Visibility } from '@backlot/contract';

/** Whom a file is for. */
export interface Audience {
  visibility: Visibility;
  /** In lower case; null where it is of no group. */
  groupId: string | null;
}

type Sent = { [Field in keyof Audience]?: unknown };

const rules = {
  visibility: 'must be "public" or "private".',
  groupId: 'must be the id of a group.',
} as const;

/** A file of a group is private unless stated. */
export const toAudience = ({
  visibility,
  groupId,
}: {
  visibility?: Visibility | undefined;
  groupId?: string | undefined;
}): Audience => ({
  visibility: visibility ?? (groupId === undefined ? 'public' : 'private'),
  groupId: groupId?.toLowerCase() ?? null,
});

/** @throws what `invalid` makes of a field and its rule */
export const parseAudience = (
  sent: Sent,
  invalid: (field: keyof Sent, rule: string) => ApiError,
): Audience => {
  const { shape } = storageRoutes.fileAudience;
  const visibility = shape.visibility.safeParse(sent.visibility);
  if (!visibility.success) throw invalid('visibility', rules.visibility);
  const groupId = shape.groupId.safeParse(sent.groupId);
  if (!groupId.success) throw invalid('groupId', rules.groupId);
  return toAudience({ visibility: visibility.data, groupId: groupId.data });
};
