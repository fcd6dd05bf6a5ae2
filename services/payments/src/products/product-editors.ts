import { ApiError, type ProjectSettings } from '@backlot/contract';
import type { Identity } from '@backlot/identity';

export type ProductEditors = ReturnType<typeof createProductEditors>;

/**
 * Who sets prices: the owner, keys and the operator, and users whose role the project's setting `productEditors`
 * names. No role has that power by its name.
 */
export const createProductEditors = (
  findSettings: (projectId: string) => Promise<ProjectSettings>,
) => {
  const mayEdit = async ({ caller, role, project }: Identity): Promise<boolean> => {
    if (caller !== 'anonymous' && caller !== 'user') return true;
    // Everybody's: what is for all users is asked of nobody.
    if (caller === 'anonymous' || role === undefined || role === 'user') return false;
    const { productEditors = [] } = await findSettings(project.id);
    return productEditors.includes(`role:${role}`);
  };
  return {
    /** @throws ApiError forbidden, unavailable */
    async check(identity: Identity): Promise<void> {
      if (await mayEdit(identity)) return;
      throw new ApiError(
        'forbidden',
        'Products are changed by the owner, by keys and by the roles that the project names.',
        {
          hint: 'The owner names them: PATCH /api/platform/projects/<id> {"settings": {"productEditors": ["role:staff"]}}, and gives a user the role: PATCH …/users/<id> {"role": "staff"}.',
        },
      );
    },

    /** Who changes products sees all of them. @throws ApiError unavailable */
    toViewer: async (identity: Identity) => ({ seesAll: await mayEdit(identity) }),
  };
};
