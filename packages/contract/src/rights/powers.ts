/** What a project's owner can let the users of a role do beyond what rules say (docs/owners.md, "Roles and moderation"). */
export const powers = ['block-users', 'delete-files', 'see-users', 'see-emails'] as const;
export type Power = (typeof powers)[number];

/** By the name of the role. */
export type PowersOfRoles = Readonly<Record<string, readonly Power[]>>;

/** Of a project, with powers. */
export const maxRolesWithPowers = 20;
