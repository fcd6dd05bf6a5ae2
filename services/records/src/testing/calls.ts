import type { Identity } from '@backlot/identity';
import { asOwner, type TestRequest, testProject } from '@backlot/testing';
import { uuidv7 } from 'uuidv7';
import { bob } from './test-bed.ts';

/** A call that stands for a kind of statement. */
export interface Call extends TestRequest {
  what: string;
  method: string;
  path: string;
  identity?: Identity;
}

export const collectionsPath = `/platform/projects/${testProject.id}/collections`;

/** The rules that the calls need. */
export const access = {
  read: ['owner', 'shared'],
  create: ['users'],
  change: ['owner', 'shared'],
};

/** How many records the calls of `callsOn` take. */
export const recordCount = 14;

/**
 * Calls of every kind on a collection.
 * @param suffix of what is unique
 * @param ids of records of the caller, of which those from the 11th on may be shared with bob
 */
export const callsOn = (name: string, suffix: string, ids: readonly string[]): Call[] => {
  const at = `/db/${name}`;
  const record = (index: number) => `${at}/${ids[index]}`;
  const body = (code: string) => ({ data: { code: `${code} ${suffix}`, n: 1, text: 'new words' } });
  const headers = { 'idempotency-key': `${name} ${suffix}` };
  const sum = { inc: { n: 1 } };
  const address = { email: `${suffix}@example.com`, may: 'read' };
  const batch = {
    create: [body('batch 1'), body('batch 2')],
    update: [{ id: ids[0], data: { code: `batch 3 ${suffix}`, text: 'other words' } }],
    delete: [ids[1]],
  };
  const longer = { data: { code: `patched ${suffix}`, text: 'many more words' } };
  return [
    { what: 'create', method: 'POST', path: at, body: body('a') },
    { what: 'create with a key', method: 'POST', path: at, body: body('b'), headers },
    { what: 'get', method: 'GET', path: record(2) },
    { what: 'list', method: 'GET', path: `${at}?limit=5` },
    { what: 'filter and sort', method: 'GET', path: `${at}?where={"n":1}&sort=-code` },
    { what: 'filter for nothing', method: 'GET', path: `${at}?where={"nowhere":1}` },
    { what: 'count', method: 'GET', path: `${at}/_count` },
    { what: 'count of some', method: 'GET', path: `${at}/_count?where={"n":1}` },
    { what: 'groups', method: 'GET', path: `${at}/_aggregate?group=n&sum=n` },
    { what: 'patch', method: 'PATCH', path: record(3), body: longer },
    { what: 'patch with a key', method: 'PATCH', path: record(4), body: sum, headers },
    { what: 'replace', method: 'PUT', path: record(5), body: body('replaced') },
    { what: 'upsert', method: 'PUT', path: `${at}/${uuidv7()}?upsert=1`, body: body('new') },
    { what: 'upsert again', method: 'PUT', path: `${record(6)}?upsert=1`, body: body('old') },
    { what: 'delete', method: 'DELETE', path: record(7) },
    { what: 'delete with a key', method: 'DELETE', path: record(8), headers },
    { what: 'batch', method: 'POST', path: `${at}/_batch`, body: batch },
    {
      what: 'share',
      method: 'PUT',
      path: `${record(9)}/_shares`,
      body: { userId: bob, may: 'read' },
    },
    { what: 'share with an address', method: 'PUT', path: `${record(9)}/_shares`, body: address },
    { what: 'shares', method: 'GET', path: `${record(9)}/_shares` },
    { what: 'end of a share', method: 'DELETE', path: `${record(10)}/_shares/${bob}` },
    { what: 'delete of what is shared', method: 'DELETE', path: record(11) },
  ];
};

/** What an owner does with collections. */
export const ownersCalls = (name: string, suffix: string): Call[] => {
  const identity = asOwner();
  const path = `${collectionsPath}/new_${suffix}`;
  const set = { method: 'PUT', path, identity };
  const none = { indexes: [], unique: [], search: false, limits: null };
  return [
    { what: 'collections', method: 'GET', path: collectionsPath, identity },
    { what: 'new collection', ...set, body: { access } },
    { what: 'index', ...set, body: { indexes: ['n'] } },
    { what: 'unique field', ...set, body: { unique: ['code'] } },
    { what: 'fields unique together', ...set, body: { unique: [['code', 'ownerId']] } },
    { what: 'search', ...set, body: { search: true } },
    { what: 'limits', ...set, body: { limits: { perUser: 10, perUserPerHour: 10 } } },
    { what: 'none of these', ...set, body: none },
    { what: 'shape', method: 'GET', path: `${collectionsPath}/${name}/shape`, identity },
  ];
};
