import { expect, it } from '@jest/globals';
import { createClient } from './index.ts';

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
  ["db('todos').onSnapshot", "db('todos').list()"],
  ['ai.chat', 'ai.generate({ messages'],
  ['ai.complete', 'ai.generate({ messages'],
  ['ai.create', 'ai.generate({ messages'],
  ['ai.generateStream', 'ai.stream({ messages'],
  ['ai.streamText', 'ai.stream({ messages'],
  ['storage.put', 'storage.upload(file'],
  ['storage.uploadFile', 'storage.upload(file'],
  ['storage.getPublicUrl', 'storage.sign(id'],
  ['storage.remove', 'storage.delete(id)'],
  ['storage.from', 'storage.upload(file'],
  ['storage.get', 'storage.sign(id'],
  ['email.sendMail', 'email.send({ to'],
  ['payments.get', 'payments.verify('],
  ['groups.get', 'groups.list()'],
  ['payments.createCheckout', 'payments.checkout({ items'],
  ['groups.addMember', 'groups.invite(id'],
  ['groups.leave', 'groups.remove(id'],
  ['users.get', 'users.find([id])'],
  ['products.create', 'products.set(id'],
])('%s leads to %s', (guess, call) => {
  const at = guess.lastIndexOf('.');
  const [group, method] = [guess.slice(0, at), guess.slice(at + 1)];
  const take = () => (groups[group] as Loose)[method];
  expect(take).toThrow(TypeError);
  expect(take).toThrow(`There is no ${guess}. Did you mean client.${call}`);
  const [known] = Object.keys(groups[group] as object);
  if (known) expect(take).toThrow(`There are: ${known}`);
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
