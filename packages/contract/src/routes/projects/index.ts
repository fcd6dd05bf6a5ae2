export * from './keys.ts';
export * from './project-settings.ts';
export * from './projects.ts';
