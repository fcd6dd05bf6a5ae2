import type { Identity } from '@backlot/identity';

/** Who changes records, and by which call: what the log says of a change. */
export interface Source {
  /** `user:<id>`, `key:<id>`, `owner`, `member:<id>`, `operator` or `platform`; null: a visitor. */
  actor: string | null;
  requestId: string | null;
  /** In which, where somebody has called. */
  project?: Pick<Identity['project'], 'id' | 'number' | 'name' | 'ownerId'>;
}

/** What nobody has called for. */
export const platformSource: Source = { actor: 'platform', requestId: null };

export const toSource = (
  identity: Pick<Identity, 'caller' | 'userId' | 'memberRole' | 'keyId' | 'project'>,
  requestId: string | undefined,
): Source => {
  const { caller, userId, memberRole, keyId, project } = identity;
  const actors = {
    anonymous: null,
    user: `user:${userId}`,
    key: `key:${keyId}`,
    owner: memberRole ? `member:${userId}` : 'owner',
    operator: 'operator',
  };
  return { actor: actors[caller], requestId: requestId ?? null, project };
};
