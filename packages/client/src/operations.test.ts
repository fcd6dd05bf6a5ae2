import { type RouteDefinition, routes } from '@backlot/contract';
import { expect, it } from '@jest/globals';
import type { Client } from './index.ts';
import { clientWith, json, type Sent } from './testing/recorded-client.ts';

const findRoute = ({ method, path }: Sent): RouteDefinition | undefined =>
  routes.find(
    (route) =>
      route.plane === 'runtime' &&
      route.method === method &&
      new RegExp(`^${route.path.replaceAll(/:\w+/g, '[^/]+')}$`).test(path) &&
      // `_count` and `_batch` could be taken for ids.
      route.path.includes('_') === path.includes('/_'),
  );

const id = '018f0000-0000-7000-8000-0000000000aa';
const account = { email: 'ada@example.org', password: 'a good long password' };
const messages = [{ role: 'user' as const, content: 'Hello' }];

it.each<[string, (client: Client) => Promise<unknown>]>([
  ['signUp', ({ auth }) => auth.signUp({ ...account, name: 'Ada' })],
  ['signIn', ({ auth }) => auth.signIn(account)],
  ['signOut', ({ auth }) => auth.signOut()],
  ['updateMe', ({ auth }) => auth.updateMe({ name: null })],
  ['deleteMe', ({ auth }) => auth.deleteMe()],
  [
    'changePassword',
    ({ auth }) => auth.changePassword({ currentPassword: 'x', newPassword: account.password }),
  ],
  ['changeEmail', ({ auth }) => auth.changeEmail(account)],
  ['confirmEmailChange', ({ auth }) => auth.confirmEmailChange('token')],
  ['forgotPassword', ({ auth }) => auth.forgotPassword(account.email)],
  ['resetPassword', ({ auth }) => auth.resetPassword('token', account.password)],
  ['verifyEmail', ({ auth }) => auth.verifyEmail('token')],
  ['resendVerification', ({ auth }) => auth.resendVerification()],
  ['listPasskeys', ({ auth }) => auth.passkeys()],
  ['renamePasskey', ({ auth }) => auth.renamePasskey(id, 'Phone')],
  ['deletePasskey', ({ auth }) => auth.deletePasskey(id)],
  ['createTotp', ({ auth }) => auth.addTotp()],
  ['confirmTotp', ({ auth }) => auth.confirmTotp('123456')],
  ['listFactors', ({ auth }) => auth.factors()],
  ['deleteFactor', ({ auth }) => auth.deleteFactor(id, '123456')],
  ['renewRecoveryCodes', ({ auth }) => auth.renewRecoveryCodes('123456')],
  ['showSignInLink', ({ auth }) => auth.showLink('token')],
  ['listAuthProviders', ({ auth }) => auth.providers()],
  ['listIdentities', ({ auth }) => auth.identities()],
  ['unlinkIdentity', ({ auth }) => auth.unlinkIdentity(id)],
  ['reauthenticate', ({ auth }) => auth.reauthenticate({ code: '123456' })],
  ['createGroup', ({ groups }) => groups.create('Red')],
  ['listGroups', ({ groups }) => groups.list({ limit: 5 })],
  ['getGroup', ({ groups }) => groups.get(id)],
  ['updateGroup', ({ groups }) => groups.rename(id, 'Blue')],
  ['deleteGroup', ({ groups }) => groups.delete(id)],
  ['listGroupMembers', ({ groups }) => groups.members(id)],
  ['updateGroupMember', ({ groups }) => groups.setRole(id, id, 'admin')],
  ['removeGroupMember', ({ groups }) => groups.remove(id, id)],
  ['inviteToGroup', ({ groups }) => groups.invite(id, { email: 'a@example.org', role: 'member' })],
  ['listGroupInvites', ({ groups }) => groups.invites(id)],
  ['revokeGroupInvite', ({ groups }) => groups.revokeInvite(id, id)],
  ['joinGroup', ({ groups }) => groups.join('token')],
  ['findUsers', ({ users }) => users.find([id, id])],
  ['findUsers', ({ users }) => users.list({ role: 'staff', limit: 5 })],
  ['moderateUser', ({ users }) => users.setRole(id, 'staff')],
  ['moderateUser', ({ users }) => users.block(id, { reason: 'Spam' })],
  ['moderateUser', ({ users }) => users.unblock(id)],
  [
    'listRecords',
    ({ db }) =>
      db('todos').list({ where: { a: { $gt: 1 } }, sort: '-a', limit: 5, offset: 1, mine: true }),
  ],
  ['listRecords', ({ db }) => db('todos').list({ cursor: 'x', fields: 'a', total: true })],
  ['countRecords', ({ db }) => db('todos').count({ where: { a: 1 } })],
  ['aggregateRecords', ({ db }) => db('todos').aggregate({ group: 'a', sum: 'b', mine: true })],
  [
    'aggregateRecords',
    ({ db }) =>
      db('todos').aggregate({
        group: 'createdAt:day,a',
        timeZone: 'Europe/Berlin',
        distinct: 'b',
        having: { 'distinct.b': { $gt: 1 } },
        sort: '-count',
      }),
  ],
  ['getRecord', ({ db }) => db('todos').get(id, { fields: 'a,b', include: 'authorId' })],
  ['getRecord', ({ db }) => db('todos').getVersion(id)],
  ['createRecord', ({ db }) => db('todos').create({ a: 1 })],
  ['createRecord', ({ db }) => db('todos').create({ a: 1 }, { groupId: id })],
  ['countRecords', ({ db }) => db('todos').count({ group: id })],
  ['shareRecord', ({ db }) => db('todos').share(id, { userId: id, may: 'read' })],
  ['shareRecord', ({ db }) => db('todos').share(id, { email: 'a@b.example', may: 'change' })],
  ['unshareRecord', ({ db }) => db('todos').unshare(id, 'a@b.example')],
  ['listShares', ({ db }) => db('todos').shares(id)],
  ['reportRecord', ({ db }) => db('todos').report(id, 'Spam')],
  ['listReports', ({ db }) => db('todos').reports({ limit: 5 })],
  ['dismissReports', ({ db }) => db('todos').dismissReports(id)],
  ['unshareRecord', ({ db }) => db('todos').unshare(id, id)],
  [
    'updateRecord',
    ({ db }) => db('todos').update(id, { data: { a: 1 } }, { ifMatch: '"1"', merge: 'deep' }),
  ],
  ['replaceRecord', ({ db }) => db('todos').replace(id, { a: 1 }, { upsert: true })],
  ['deleteRecord', ({ db }) => db('todos').delete(id)],
  ['deleteRecords', ({ db }) => db('todos').deleteWhere({ a: 1 }, { dryRun: true })],
  [
    'writeBatch',
    ({ db }) =>
      db('todos').batch({
        create: [{ data: {} }],
        update: [{ id, unset: ['a'] }],
        delete: [id],
      }),
  ],
  [
    'generateText',
    ({ ai }) =>
      ai.generate({ messages: [{ role: 'user', content: [{ type: 'image', fileId: id }] }] }),
  ],
  ['generateText', ({ ai }) => ai.generate({ messages, system: 'Be brief.', maxTokens: 5 })],
  [
    'generateText',
    ({ ai }) =>
      ai
        .stream({ messages, prompt: 'pinned' })
        .next()
        .catch(() => {}),
  ],
  [
    'uploadFile',
    ({ storage }) => storage.upload(new Blob(['x']), { visibility: 'private', groupId: id }),
  ],
  ['listFiles', ({ storage }) => storage.list({ group: id, limit: 5 })],
  ['signFile', ({ storage }) => storage.sign(id, 60)],
  ['attachFile', ({ storage }) => storage.attach(id, { collection: 'chat', recordId: id })],
  ['attachFile', ({ storage }) => storage.attach(id, { recordId: null })],
  ['getFile', ({ storage }) => storage.open(id, { width: 320 })],
  ['deleteFile', ({ storage }) => storage.delete(id)],
  [
    'sendEmail',
    ({ email }) =>
      email.send({
        to: 'a@b.example',
        cc: ['c@d.example'],
        replyTo: 'e@f.example',
        attachments: [id],
        subject: 'x',
        html: 'x',
      }),
  ],
  ['sendEmail', ({ email }) => email.send({ to: ['a@example.org'], subject: 'Hi', html: 'x' })],
  ['sendEmail', ({ email }) => email.send({ template: 'receipt', data: { order: 'a-1' } })],
  [
    'createCheckout',
    ({ payments }) =>
      payments.checkout({
        items: [{ name: 'Mug', amount: 1999, quantity: 1 }],
        returnUrl: 'https://shop.example.org/',
        metadata: { order: 1 },
      }),
  ],
  ['verifyPayment', ({ payments }) => payments.verify('session')],
  ['listMyPayments', ({ payments }) => payments.list({ limit: 5 })],
  ['listProducts', ({ products }) => products.list({ limit: 5 })],
  ['getProduct', ({ products }) => products.get('mug')],
  ['setProduct', ({ products }) => products.set('mug', { name: 'Mug', amount: 1999, stock: 3 })],
  ['deleteProduct', ({ products }) => products.delete('mug')],
])('%s is called as the contract has it', async (operationId, use) => {
  const { client, sent } = clientWith([json({ token: 't', user: {}, items: [] })]);
  await use(client);
  const call = sent.at(-1) as Sent;
  const route = findRoute(call);
  expect(route?.operationId).toBe(operationId);
  expect(route?.query?.strict().parse(call.query) ?? call.query).toBeDefined();
  const body = call.body instanceof FormData ? Object.fromEntries(call.body) : call.body;
  if (route?.body) route.body.parse(body);
  else expect(body).toBeNull();
  const isStream = (call.body as { stream?: boolean } | null)?.stream;
  const carriesKey = call.method === 'POST' && operationId !== 'uploadFile' && !isStream;
  expect('Idempotency-Key' in call.headers).toBe(carriesKey);
});

it('calls every operation of the runtime plane that an app has', async () => {
  const others = [
    'getMe',
    'getHistory',
    'restoreRecord',
    'listChanges',
    'exportRecords',
    'importRecords',
    'refreshToken',
    'getJwks',
    'showInvitation',
    // Of the page /account/sign-in.
    'checkReturn',
    'handOverSession',
    'takeSession',
    'createPasskeyOptions',
    'addPasskey',
    'createPasskeySignIn',
    'signInWithPasskey',
    'listMySessions',
    'endMySession',
    'endOtherSessions',
    'openUpload',
    'completeUpload',
    'createResumable',
    'getResumable',
    'appendResumable',
    'deleteResumable',
    'verifyFactor',
    'linkIdentity',
  ];
  const forPeopleAndProviders = /mailbox|webhook|events|oauth|checkout\/:|return\/:/;
  const names = routes
    .filter(({ plane, path }) => plane === 'runtime' && !forPeopleAndProviders.test(path))
    .map(({ operationId }) => operationId)
    .filter((name) => !others.includes(name));
  expect(new Set(names)).toEqual(
    new Set([
      'signUp',
      'signIn',
      'createGuest',
      'requestCode',
      'verifyCode',
      'signOut',
      'updateMe',
      'deleteMe',
      'changePassword',
      'changeEmail',
      'confirmEmailChange',
      'forgotPassword',
      'resetPassword',
      'verifyEmail',
      'resendVerification',
      'listPasskeys',
      'renamePasskey',
      'deletePasskey',
      'createTotp',
      'confirmTotp',
      'listFactors',
      'deleteFactor',
      'renewRecoveryCodes',
      'showSignInLink',
      'listAuthProviders',
      'listIdentities',
      'unlinkIdentity',
      'reauthenticate',
      'createGroup',
      'listGroups',
      'getGroup',
      'updateGroup',
      'deleteGroup',
      'listGroupMembers',
      'updateGroupMember',
      'removeGroupMember',
      'inviteToGroup',
      'listGroupInvites',
      'revokeGroupInvite',
      'joinGroup',
      'findUsers',
      'moderateUser',
      'listRecords',
      'aggregateRecords',
      'countRecords',
      'getRecord',
      'createRecord',
      'updateRecord',
      'replaceRecord',
      'deleteRecord',
      'deleteRecords',
      'writeBatch',
      'shareRecord',
      'listShares',
      'unshareRecord',
      'reportRecord',
      'listReports',
      'dismissReports',
      'generateText',
      'uploadFile',
      'listFiles',
      'signFile',
      'attachFile',
      'getFile',
      'deleteFile',
      'sendEmail',
      'createCheckout',
      'verifyPayment',
      'listMyPayments',
      'listProducts',
      'getProduct',
      'setProduct',
      'deleteProduct',
    ]),
  );
});
