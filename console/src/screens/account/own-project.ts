/** Owners are the users of this project. */
export const ownProject = { project: 'platform' } as const;
