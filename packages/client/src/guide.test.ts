import { expect, it } from '@jest/globals';
import { BacklotError, createClient } from './index.ts';

const client = createClient('https://api.example.org/api/runtime/demo');
type Loose = Record<string, (...given: unknown[]) => unknown>;
const groups: Record<string, object> = { ...client, client, "db('todos')": client.db('todos') };

it.each([
  ['client.login', 'auth.signIn({ email, password })'],
  ['client.from', "db('todos')"],
  ['client.collection', "db('todos')"],
  ['client.create', "db('todos').create("],
  ['client.upload', 'storage.upload(file'],
  ['client.chat', 'ai.generate({ messages'],
  ['client.sendEmail', 'email.send({ to'],
  ['client.checkout', 'payments.checkout({ items'],
  ['auth.signInWithPassword', 'auth.signIn({ email, password })'],
  ['auth.createUserWithEmailAndPassword', 'auth.signUp({ email, password })'],
  ['auth.register', 'auth.signUp({ email, password })'],
  ['auth.logout', 'auth.signOut()'],
  ['auth.getUser', 'auth.me()'],
  ['auth.currentUser', 'auth.me()'],
  ['auth.isLoggedIn', 'auth.me()'],
  ['auth.getToken', 'transport.authorization()'],
  ['auth.sendPasswordReset', 'auth.forgotPassword(email)'],
  ['auth.updateUser', 'auth.updateMe({ name'],
  ['auth.onAuthStateChange', 'auth.onChange('],
  ['db.collection', "db('todos')"],
  ['db.notes', "db('notes')"],
  ["db('todos').find", "db('todos').list({ where"],
  ["db('todos').findMany", "db('todos').list({ where"],
  ["db('todos').getAll", "db('todos').list({ where"],
  ["db('todos').where", "db('todos').list({ where"],
  ["db('todos').findOne", "db('todos').get(id)"],
  ["db('todos').getById", "db('todos').get(id)"],
  ["db('todos').insert", "db('todos').create({"],
  ["db('todos').add", "db('todos').create({"],
  ["db('todos').setDoc", "db('todos').replace(id"],
  ["db('todos').patch", "db('todos').update(id, { data"],
  ["db('todos').upsert", "db('todos').replace(id, data, { upsert: true })"],
  ["db('todos').remove", "db('todos').delete(id)"],
  ["db('todos').insertMany", "db('todos').batch({ create"],
  ["db('todos').search", "db('todos').list({ search"],
  ["db('todos').groupBy", "db('todos').aggregate({ group"],
  ["db('todos').populate", "db('todos').list({ include"],
  ['client.broadcast', "channel('room:1').send(data)"],
  ['client.realtime', "db('todos').live({ where"],
  ["db('todos').onSnapshot", "db('todos').live({ where"],
  ["db('todos').on", "db('todos').live({ where"],
  ["db('todos').paginate", "db('todos').all({"],
  ["db('todos').maybeSingle", "db('todos').get(id)"],
  ["db('todos').limit", "db('todos').list({ where"],
  ["db('todos').increment", "db('todos').update(id, { inc"],
  ["db('todos').exists", "db('todos').count({"],
  ['auth.refreshSession', 'transport.authorization()'],
  ['auth.deleteUser', 'auth.deleteMe()'],
  ['auth.updateEmail', 'auth.changeEmail({'],
  ['auth.signInWithEmailAndPassword', 'auth.signIn({ email, password })'],
  ['auth.authWithPassword', 'auth.signIn({ email, password })'],
  ['auth.signInWithOAuth', "auth.signInWith('google')"],
  ['auth.signInWithPopup', "auth.signInWith('google')"],
  ['auth.signInWithGoogle', "auth.signInWith('google')"],
  ['auth.authWithOAuth2', "auth.signInWith('google')"],
  ['auth.signInWithOtp', 'auth.code(email)'],
  ['auth.verifyOtp', 'auth.verifyCode({ email, code })'],
  ['auth.signInAnonymously', 'auth.guest()'],
  ['auth.mfa', 'auth.addTotp()'],
  ['auth.getUserIdentities', 'auth.identities()'],
  ['client.transaction', "db('todos').batch({"],
  ['ai.chat', 'ai.generate({ messages'],
  ['ai.complete', 'ai.generate({ messages'],
  ['ai.create', 'ai.generate({ messages'],
  ['ai.generateStream', 'ai.stream({ messages'],
  ['ai.streamText', 'ai.stream({ messages'],
  ['storage.put', 'storage.upload(file'],
  ['storage.uploadFile', 'storage.upload(file'],
  ['storage.createSignedUrl', 'storage.sign(id'],
  ['storage.remove', 'storage.delete(id)'],
  ['storage.from', 'storage.upload(file'],
  ['email.sendMail', 'email.send({ to'],
  ['payments.get', 'payments.verify('],

  ['payments.createCheckout', 'payments.checkout({ items'],
  ['groups.addMember', 'groups.invite(id'],
  ['groups.leave', 'groups.remove(id'],
  ['users.get', 'users.find([id])'],
  ['products.create', 'products.set(id'],
])('%s leads to %s', (guess, call) => {
  const at = guess.lastIndexOf('.');
  const [group, method] = [guess.slice(0, at), guess.slice(at + 1)];
  const take = () => (groups[group] as Loose)[method];
  expect(take).toThrow(BacklotError);
  expect(take).toThrow(`There is no ${guess}. Did you mean client.${call}`);
  const [known] = Object.keys(groups[group] as object);
  if (known) expect(take).toThrow(`There are: ${known}`);
});

it.each([
  ['auth.signInWithPhone', 'an address, a provider or a passkey', "client.auth.signInWith('"],
  ['auth.setSession', 'keeps the token', 'createClient(baseUrl, { storage })'],
  [
    'auth.sendEmailVerification',
    'mailed at sign-up, and again by it',
    'client.auth.resendVerification()',
  ],
  ['client.functions', 'no code of yours runs here', 'createClient(baseUrl, { key })'],
  ['client.integrations', 'no code of yours runs here', 'createClient(baseUrl, { key })'],
  ['client.rpc', 'queries are filters', "client.db('todos').list({ where"],
  ['client.schedule', 'no code of yours runs here', 'createClient(baseUrl, { key })'],
  ['client.cron', 'no code of yours runs here', 'createClient(baseUrl, { key })'],
  ['client.webhooks', 'managed by its owner', '/api/platform/projects/<project>'],
  ['client.history', 'records have a history', '_history'],
  ['client.notifications', 'reached by mail', 'client.email.send({'],
  ['client.projects', 'managed by its owner', '/api/platform/projects/<project>'],
  ["db('todos').history", 'records have a history', '_history'],
  ["db('todos').restore", 'records have a history', '_restore'],
  ["db('todos').createIndex", 'set up by the owner', '/collections/<collection>'],
  ["db('todos').rpc", 'queries are filters', "client.db('todos').list({ where"],
  ['ai.embed', 'texts become no vectors', "client.db('todos').list({ search"],
  ['ai.generateImage', 'images are looked at, not made', "{ type: 'image', fileId }"],
  ['ai.transcribe', 'a model answers with text or JSON', 'client.ai.generate({'],
  ['ai.model', 'the owner chooses the model', 'aiModel'],
  ['storage.getPublicUrl', 'a file opens at its address', 'the `url` that upload'],
  ['storage.getDownloadURL', 'a file opens at its address', 'the `url` that upload'],
  ['storage.download', 'a file opens at its address', 'fetch(file.url)'],
  ['storage.get', 'a file opens at its address', 'fetch(file.url)'],
  ['storage.move', 'a file stays as it was uploaded', 'client.storage.upload(file'],
  ['storage.thumbnail', 'sizes are asked for by address', '?width=320'],
  ['email.sendTemplate', 'the owner sets them', 'client.email.send({'],
  ['email.schedule', 'mails leave at once', 'createClient(baseUrl, { key })'],
  ['payments.createSubscription', 'a payment is made once', 'client.payments.checkout({'],
  ['payments.refund', 'given back by the owner', '/payments/<id>/refund'],
])('%s is not there: %s; the nearest is %s', (guess, why, nearest) => {
  const at = guess.lastIndexOf('.');
  const take = () => (groups[guess.slice(0, at)] as Loose)[guess.slice(at + 1)];
  expect(take).toThrow(BacklotError);
  expect(take).toThrow(expect.objectContaining({ code: 'no_such_method' }));
  for (const words of [`There is no ${guess}: `, why, 'The nearest is ', nearest])
    expect(take).toThrow(words);
});

it('leaves undefined what libraries look for in any object', async () => {
  const probes =
    '$$typeof then toJSON nodeType tagName length size name constructor.name asymmetricMatch ngOnDestroy onModuleInit onModuleDestroy beforeApplicationShutdown addEventListener removeEventListener addListener postMessage payload next lift getReader querySelector listeners splice isBuffer __v_isRef _isVue render props type key ref inspect url baseUrl dispose close destroy';
  for (const group of Object.values(groups)) {
    const isDb = typeof group === 'function';
    for (const probe of probes.split(' ')) {
      // Of `db` they read as names of collections.
      if (probe in group || (isDb && ['props', 'listeners'].includes(probe))) continue;
      expect((group as Loose)[probe]).toBeUndefined();
    }
    expect(JSON.parse(JSON.stringify(group) ?? '{}')).toBeDefined();
    expect(await group).toBe(group);
  }
});
