import type { MountedRoute } from '@backlot/http';

export const routesOf = (): MountedRoute[] => [];
