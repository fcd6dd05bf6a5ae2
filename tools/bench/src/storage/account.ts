import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { MIB } from '@backlot/contract';
import { apiAt } from '@backlot/testing/platform-api';
import { operatorToken } from '../prepare.ts';
import { curlUpload } from './curl.ts';

export interface Stored {
  id: string;
  url: string;
  seconds: number;
}

/** A project that may take whatever the benchmark sends, seen as its owner. */
export interface Account {
  headers: Record<string, string>;
  uploadUrl: string;
  upload(path: string): Promise<Stored>;
  remove(id: string): Promise<void>;
}

const largestUploadBytes = 5 * 1024 * MIB;

const checked = (status: number, answer: Awaited<ReturnType<ReturnType<typeof apiAt>>>) => {
  if (answer.status === status) return answer.body;
  throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`);
};

/** A project without limits that matter here, of an owner with credits. */
const openProject = async (origin: string) => {
  const platform = apiAt(`${origin}/api/runtime/platform`);
  const control = apiAt(`${origin}/api/platform`);
  const account = { email: `${randomUUID()}@example.org`, password: 'a good long password' };
  const { token, user } = checked(201, await platform('POST', '/auth/signup', { body: account }));
  const made = await control('POST', '/projects', { token, body: { name: 'Files' } });
  const { id } = checked(201, made);
  const settings = {
    maxUploadBytes: largestUploadBytes,
    uploadsPerVisitorPerDay: 1_000_000,
    visitorCreditsPerDay: 1_000_000,
  };
  checked(200, await control('PATCH', `/projects/${id}`, { token, body: { settings } }));
  const wide = { perCaller: 1_000_000, perProject: 1_000_000 };
  const limits = { read: wide, write: wide, upload: wide };
  const operator = { token: operatorToken };
  checked(200, await control('PUT', `/projects/${id}/limits`, { ...operator, body: limits }));
  const grant = { ownerId: user.id, credits: 1_000_000, reason: 'for the benchmark' };
  checked(201, await control('POST', '/credits/grants', { ...operator, body: grant }));
  return { id, token };
};

export const openAccount = async (origin: string): Promise<Account> => {
  const { id, token } = await openProject(origin);
  const base = `${origin}/api/runtime/${id}`;
  const headers = { authorization: `Bearer ${token}` };
  const uploadUrl = `${base}/storage/upload`;
  return {
    headers,
    uploadUrl,
    async upload(path) {
      const { seconds, body } = await curlUpload(uploadUrl, path, headers);
      return { ...JSON.parse(body), seconds };
    },
    async remove(fileId) {
      checked(200, await apiAt(base)('DELETE', `/storage/files/${fileId}`, { headers }));
    },
  };
};

const settleMs = 20_000;

/** Until credits and settings of a new project have arrived everywhere. */
export const warmUp = async (account: Account, path: string): Promise<void> => {
  const deadline = performance.now() + settleMs;
  for (;;) {
    try {
      return await account.remove((await account.upload(path)).id);
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await pause(200);
    }
  }
};
