import { useParams } from '@tanstack/react-router';

/** Of the project in whose navigation the screen stands. */
export const useProjectId = (): string =>
  useParams({ from: '/signed-in/projects/$projectId' }).projectId;
