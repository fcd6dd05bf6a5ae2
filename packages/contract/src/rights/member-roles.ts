/** What somebody is in a project, from the least to the most. The owner is one, and no member. */
export const memberRoles = ['viewer', 'editor', 'admin', 'owner'] as const;
export type MemberRole = (typeof memberRoles)[number];

/** What members can be. */
export const givenRoles = ['viewer', 'editor', 'admin'] as const;
export type GivenRole = (typeof givenRoles)[number];

/** Whether who has this role may what takes that one. */
export const roleReaches = (role: MemberRole, needed: MemberRole): boolean =>
  memberRoles.indexOf(role) >= memberRoles.indexOf(needed);

const articles: Readonly<Record<MemberRole, string>> = {
  viewer: 'a viewer',
  editor: 'an editor',
  admin: 'an admin',
  owner: 'the owner',
};

/** "an admin" */
export const roleInWords = (role: MemberRole): string => articles[role];
