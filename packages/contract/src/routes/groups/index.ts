export * from './group-invites.ts';
export * from './group-members.ts';
export * from './groups.ts';
export * from './people.ts';
