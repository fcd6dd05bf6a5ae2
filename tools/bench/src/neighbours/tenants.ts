import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Answer, apiAt } from '@backlot/testing/platform-api';
import { type Address, fetchFrom } from './addresses.ts';

/** A project of an owner of its own, and where its calls come from. */
export interface Tenant {
  base: string;
  projectId: string;
  ownerId: string;
  ownerToken: string;
  /** Of a user of the project. */
  userToken: string;
  userEmail: string;
  address: Address;
}

export const password = 'a good long password';

export const checked = (status: number, answer: Answer) => {
  if (answer.status === status) return answer.body;
  throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`);
};

/** @throws Error where the project takes no user from this address */
export const signUp = async (base: string, address: Address) => {
  const email = `${randomUUID()}@example.org`;
  const call = apiAt(base, fetchFrom(address));
  const answer = await call('POST', '/auth/signup', { body: { email, password } });
  const { token, user } = checked(201, answer);
  return { email, token: String(token), userId: String(user.id) };
};

/** What is measured are turns, not budgets. */
const generous = {
  aiPerVisitorPerDay: 1_000_000,
  emailPerVisitorPerDay: 1_000_000,
  uploadsPerVisitorPerDay: 1_000_000,
  visitorCreditsPerDay: 1_000_000,
};

/** @throws Error where the platform takes no owner from this address */
export const openTenant = async (origin: string, address: Address): Promise<Tenant> => {
  const owner = await signUp(`${origin}/api/runtime/platform`, address);
  const control = apiAt(`${origin}/api/platform`, fetchFrom(address));
  const made = await control('POST', '/projects', {
    token: owner.token,
    body: { name: 'Tenant', settings: generous },
  });
  const projectId = String(checked(201, made).id);
  const base = `${origin}/api/runtime/${projectId}`;
  const user = await signUp(base, address);
  return {
    base,
    projectId,
    ownerId: owner.userId,
    ownerToken: owner.token,
    userToken: user.token,
    userEmail: user.email,
    address,
  };
};

/** More than a benchmark spends. */
export const grantCredits = async ({ base, ownerId }: Tenant, operatorToken: string) => {
  const control = apiAt(`${new URL(base).origin}/api/platform`);
  const grant = { ownerId, credits: 1_000_000, reason: 'for the benchmark' };
  checked(201, await control('POST', '/credits/grants', { token: operatorToken, body: grant }));
};

/** Answers the address of the stored file. */
export const upload = async (
  { base, userToken, address }: Tenant,
  content: Uint8Array<ArrayBuffer>,
): Promise<string> => {
  const form = new FormData();
  form.set('file', new Blob([content]), 'picture.png');
  const fetchAsTenant = fetchFrom(address);
  const headers = { authorization: `Bearer ${userToken}` };
  const send = () =>
    fetchAsTenant(`${base}/storage/upload`, { method: 'POST', headers, body: form });
  let response = await send();
  for (let tries = 0; response.status === 503 && tries < 10; tries++) {
    await pause(1000);
    response = await send();
  }
  if (response.status !== 201) throw new Error(`${response.status}: ${await response.text()}`);
  return String(((await response.json()) as { url: string }).url);
};
