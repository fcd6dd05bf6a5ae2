import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Answer, apiAt } from '@backlot/testing/platform-api';
import { operatorToken } from '../prepare.ts';

/** A project of an owner of its own, and where its calls come from. */
export interface Tenant {
  base: string;
  projectId: string;
  ownerToken: string;
  /** Of a user of the project. */
  userToken: string;
  userEmail: string;
  address: string;
}

export const password = 'a good long password';

export const checked = (status: number, answer: Answer) => {
  if (answer.status === status) return answer.body;
  throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`);
};

/** The platform trusts one proxy: the header says where a call comes from. */
export const from = (address: string) => ({ 'x-forwarded-for': address });

/** @throws Error where the project takes no user from this address */
export const signUp = async (base: string, address: string) => {
  const email = `${randomUUID()}@example.org`;
  const answer = await apiAt(base)('POST', '/auth/signup', {
    body: { email, password },
    headers: from(address),
  });
  const { token, user } = checked(201, answer);
  return { email, token: String(token), userId: String(user.id) };
};

export const openTenant = async (origin: string, address: string): Promise<Tenant> => {
  const owner = await signUp(`${origin}/api/runtime/platform`, address);
  const control = apiAt(`${origin}/api/platform`);
  const made = await control('POST', '/projects', {
    token: owner.token,
    body: { name: 'Tenant' },
    headers: from(address),
  });
  const projectId = String(checked(201, made).id);
  const grant = { ownerId: owner.userId, credits: 1_000_000, reason: 'for the benchmark' };
  checked(201, await control('POST', '/credits/grants', { token: operatorToken, body: grant }));
  const base = `${origin}/api/runtime/${projectId}`;
  const user = await signUp(base, address);
  return {
    base,
    projectId,
    ownerToken: owner.token,
    userToken: user.token,
    userEmail: user.email,
    address,
  };
};

/** Answers the address of the stored file. */
export const upload = async (
  { base, userToken, address }: Tenant,
  content: Uint8Array<ArrayBuffer>,
): Promise<string> => {
  const form = new FormData();
  form.set('file', new Blob([content]), 'picture.png');
  const send = () =>
    fetch(`${base}/storage/upload`, {
      method: 'POST',
      headers: { authorization: `Bearer ${userToken}`, ...from(address) },
      body: form,
    });
  let response = await send();
  for (let tries = 0; response.status === 503 && tries < 10; tries++) {
    await pause(1000);
    response = await send();
  }
  if (response.status !== 201) throw new Error(`${response.status}: ${await response.text()}`);
  return String(((await response.json()) as { url: string }).url);
};
