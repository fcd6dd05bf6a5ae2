import { bodyExamples, routes } from '@backlot/contract';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type PlatformUnderTest, platformUnderTest } from './platform-under-test.ts';

/** What an example alone can not have, and how that is refused: not as malformed. */
const refusals: Readonly<Record<string, string>> = {
  confirmEmailChange: 'invalid_link',
  verifyCode: 'invalid_link',
  verifyEmail: 'invalid_link',
  resetPassword: 'invalid_link',
  showInvitation: 'invalid_link',
  joinGroup: 'invalid_link',
  openUpload: 'conflict',
  attachFile: 'not_found',
  broadcastMessage: 'forbidden',
  setPresence: 'forbidden',
};

/** Of calls that answer another status than that of their route where they make something. */
const statuses: Readonly<Record<string, number>> = { setWebhook: 201 };

describe('the examples of the API’s description', () => {
  let platform: PlatformUnderTest;
  beforeAll(async () => {
    platform = await platformUnderTest('in-process');
  });
  afterAll(() => platform.stop());

  it('can be sent as they stand to a new project, one after the other', async () => {
    const { id: projectId, owner, api } = await platform.newProject();
    const keyed = await platform.control('POST', `/projects/${projectId}/keys`, {
      token: owner.token,
      body: { name: 'admin', scopes: ['read', 'write', 'admin'] },
    });
    const form = new FormData();
    form.set('file', new Blob(['hello']), 'hello.txt');
    const places: Record<string, string> = { projectId, collection: 'todos', name: 'welcome' };
    places.productId = 'mug';
    let token: string | undefined;
    const credentialFor = (operationId: string, callers: readonly string[]) => {
      if (['setProduct', 'moderateUser'].includes(operationId)) return owner.token;
      if (callers.includes('user') || callers.includes('anonymous')) return token;
      return callers.includes('owner') ? owner.token : String(keyed.body.key);
    };

    for (const [operationId, body] of Object.entries(bodyExamples)) {
      const route = routes.find((other) => other.operationId === operationId);
      if (!route) throw new Error(`There is no operation ${operationId}.`);
      if (operationId === 'signFile') {
        const headers = { authorization: `Bearer ${token}` };
        const url = `${platform.url}/api/runtime/${projectId}/storage/upload`;
        const stored = await fetch(url, { method: 'POST', headers, body: form });
        places.id = ((await stored.json()) as { id: string }).id;
      }
      if (operationId === 'shareRecord') places.id = String(places.recordId);
      const path = route.path.replace(/:([A-Za-z]+)/g, (_, name: string) => String(places[name]));
      const call = route.plane === 'platform' ? platform.control : api;
      const answer = await call(route.method, path, {
        token: credentialFor(operationId, route.callers),
        body,
      });
      const refusal = refusals[operationId];
      if (refusal === undefined)
        expect([operationId, answer.status, answer.body.error]).toEqual([
          operationId,
          statuses[operationId] ?? route.status,
          undefined,
        ]);
      else expect([operationId, answer.body.code]).toEqual([operationId, refusal]);
      if (operationId === 'signUp') {
        token = answer.body.token;
        places.userId = answer.body.user.id;
      }
      if (operationId === 'signIn') token = answer.body.token;
      if (operationId === 'createGroup') places.groupId = answer.body.id;
      if (operationId === 'createRecord') places.recordId = places.id = answer.body.id;
    }
  });
});
