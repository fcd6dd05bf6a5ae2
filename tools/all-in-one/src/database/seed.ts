import type { Services } from '../services.ts';

/** What a first start makes; later starts find it. */
export interface Seeded {
  projectId: string;
  owner: { email: string; password: string };
}

/** One address plays here: it may take what all visitors may. */
const demoSettings = {
  aiPerVisitorPerDay: 1000,
  emailPerVisitorPerDay: 1000,
  uploadsPerVisitorPerDay: 1000,
};

const ownerEmail = 'owner@backlot.example';

/** @param password of the owner when the account is made; a later change of it stays. */
export const seed = async (
  { auth, projects }: Pick<Services, 'auth' | 'projects'>,
  password: string,
): Promise<Seeded> => {
  const { user } = await auth.ensureOwner({ email: ownerEmail, password, name: 'Demo owner' });
  const project = await projects.ensureProject({
    id: 'demo',
    name: 'Demo',
    ownerId: user.id,
    settings: demoSettings,
  });
  return { projectId: project.id, owner: { email: ownerEmail, password } };
};
