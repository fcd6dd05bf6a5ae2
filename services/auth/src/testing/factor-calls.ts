import type { Identity, IdentityProject } from '@backlot/identity';
import { anonymous, testProject } from '@backlot/testing';
import type { Person, TestBed } from './test-bed.ts';

/** Calls of people with a second factor, each from an address of its own unless told. */
export const createFactorCalls = (bed: () => TestBed) => {
  let address = 0;
  const freshIp = () => `203.0.113.${++address}`;
  const signIn = (person: Person, more: object = {}, project: IdentityProject = testProject) =>
    bed().call('POST', '/auth/signin', {
      identity: anonymous({ ip: freshIp(), project }),
      body: { email: person.email, password: person.password, ...more },
    });
  const factorToken = async (person: Person): Promise<string> =>
    (await signIn(person)).body.factorToken;
  return {
    freshIp,
    signIn,
    factorToken,
    /** One after another: sign-ins of an account that are under way count as failed. */
    async factorTokens(person: Person, count: number): Promise<string[]> {
      const tokens = [];
      for (let n = 0; n < count; n++) tokens.push(await factorToken(person));
      return tokens;
    },
    verify: (
      body: { factorToken: string; code: string; remember?: boolean },
      { ip = freshIp(), project = testProject }: Partial<Pick<Identity, 'ip' | 'project'>> = {},
    ) => bed().call('POST', '/auth/factors/verify', { identity: anonymous({ ip, project }), body }),
    list: async ({ identity }: Pick<Person, 'identity'>) =>
      (await bed().call('GET', '/auth/factors', { identity })).body,
  };
};
