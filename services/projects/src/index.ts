export { type ProjectsConfig, parseConfig } from './config.ts';
export {
  createProjectsService,
  type ProjectsDeps,
  type ProjectsService,
  type SeedProject,
} from './service.ts';
