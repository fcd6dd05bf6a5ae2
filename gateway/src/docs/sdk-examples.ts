/**
 * What the client's users write for an operation. A journey runs each as it stands on the page, as a module:
 * `user` has a user sign up first, `key` is for what owners, keys and roles may.
 */
interface SdkExample {
  as?: 'user' | 'key';
  code: string;
}

const visitor = (code: string): SdkExample => ({ code });
const user = (code: string): SdkExample => ({ as: 'user', code });
const key = (code: string): SdkExample => ({ as: 'key', code });

const password = `'correct horse battery'`;
const todo = `const todo = await backlot.db('todos').create({ title: 'Buy milk', stars: 2 });`;
const team = `const team = await backlot.groups.create('Red team');`;
const file = `const file = new File(['Hello'], 'hello.txt', { type: 'text/plain' });
const stored = await backlot.storage.upload(file);`;

const sdkExamples: Readonly<Record<string, SdkExample>> = {
  signUp: visitor(`const email = \`ada-\${crypto.randomUUID()}@example.org\`;
const user = await backlot.auth.signUp({ email, password: ${password}, name: 'Ada' });
console.log(user.id, user.name);`),
  signIn: user(`const me = await backlot.auth.signIn({ email, password: ${password} });
console.log(me.id);`),
  signOut: user('await backlot.auth.signOut();'),
  getMe: user(`const me = await backlot.auth.me();
console.log(me?.email); // null for nobody`),
  updateMe:
    user(`const me = await backlot.auth.updateMe({ name: 'Ada Lovelace', profile: { theme: 'dark' } });
console.log(me.name);`),
  deleteMe: user('await backlot.auth.deleteMe();'),
  changePassword: user(`await backlot.auth.changePassword({
  currentPassword: ${password},
  newPassword: 'battery horse correct',
});`),
  changeEmail: user(`await backlot.auth.changeEmail({
  email: \`new-\${email}\`,
  password: ${password},
});`),
  resendVerification: user('await backlot.auth.resendVerification();'),
  forgotPassword: user('await backlot.auth.forgotPassword(email);'),
  resetPassword: visitor(`const token = 'the-token-behind-the-mailed-link';
await backlot.auth.resetPassword(token, 'battery horse correct');`),
  verifyEmail: visitor(`const token = 'the-token-behind-the-mailed-link';
await backlot.auth.verifyEmail(token);`),
  confirmEmailChange: visitor(`const token = 'the-token-behind-the-mailed-link';
const isChanged = await backlot.auth.confirmEmailChange(token);
console.log(isChanged);`),
  findUsers: user(`const me = await backlot.auth.me();
const [person] = await backlot.users.find([me.id]);
console.log(person.name, person.publicProfile);`),

  createGroup: user(`${team}
console.log(team.id, team.role);`),
  listGroups: user(`const { items } = await backlot.groups.list();
console.log(items.map(({ name }) => name));`),
  getGroup: user(`${team}
const found = await backlot.groups.get(team.id);
console.log(found.name, found.role);`),
  updateGroup: user(`${team}
const renamed = await backlot.groups.rename(team.id, 'Blue team');
console.log(renamed.name);`),
  deleteGroup: user(`${team}
await backlot.groups.delete(team.id);`),
  listGroupMembers: user(`${team}
const { items } = await backlot.groups.members(team.id);
console.log(items.map(({ name, role }) => [name, role]));`),
  listGroupInvites: user(`${team}
const { items } = await backlot.groups.invites(team.id);
console.log(items.length);`),
  inviteToGroup: user(`${team}
const invite = await backlot.groups.invite(team.id, { email: 'bob@example.org' });
console.log(invite.expiresAt);`),
  revokeGroupInvite: user(`${team}
const invite = await backlot.groups.invite(team.id, { email: 'bob@example.org' });
await backlot.groups.revokeInvite(team.id, invite.id);`),
  joinGroup: user(`const token = 'the-token-behind-the-mailed-link';
await backlot.groups.join(token);`),

  listRecords: visitor(`const { items, hasMore } = await backlot.db('todos').list({
  where: { stars: { $gte: 2 } },
  sort: '-stars,title',
  limit: 20,
});
console.log(items.map(({ title }) => title), hasMore);`),
  createRecord: visitor(`${todo}
console.log(todo.id, todo.createdAt);`),
  getRecord: visitor(`${todo}
const again = await backlot.db('todos').get(todo.id);
console.log(again.title);`),
  updateRecord: visitor(`${todo}
const changed = await backlot.db('todos').update(todo.id, { data: { done: true }, inc: { stars: 1 } });
console.log(changed.done, changed.stars);`),
  replaceRecord: visitor(`${todo}
const replaced = await backlot.db('todos').replace(todo.id, { title: 'Buy oat milk' });
console.log(replaced.title, replaced.stars);`),
  deleteRecord: visitor(`${todo}
await backlot.db('todos').delete(todo.id);`),
  deleteRecords:
    key(`const { count } = await backlot.db('todos').deleteWhere({ done: true }, { dryRun: true });
console.log(count);`),
  writeBatch: visitor(`const { create } = await backlot.db('todos').batch({
  create: [{ data: { title: 'Buy milk' } }, { data: { title: 'Call Bob' } }],
});
console.log(create.map(({ id }) => id));`),
  countRecords:
    visitor(`const { count } = await backlot.db('todos').count({ where: { done: true } });
console.log(count);`),
  aggregateRecords:
    visitor(`const { groups } = await backlot.db('todos').aggregate({ group: 'done', sum: 'stars' });
console.log(groups);`),
  shareRecord: user(`${todo}
await backlot.db('todos').share(todo.id, { email: 'bob@example.org', may: 'read' });`),
  listShares: user(`${todo}
console.log(await backlot.db('todos').shares(todo.id));`),
  reportRecord: user(`${todo}
await backlot.db('todos').report(todo.id, 'Insults a guest');`),
  openEvents: visitor(`const stop = backlot.db('todos').live({ sort: '-stars' }, (todos) => {
  console.log(todos.length); // now, and after each change by anyone
});
setTimeout(stop, 1000);`),

  uploadFile: user(`${file}
console.log(stored.url, stored.size);`),
  listFiles: user(`const { items } = await backlot.storage.list();
console.log(items.map(({ name, size }) => [name, size]));`),
  getFile: user(`${file}
const content = await backlot.storage.open(stored.id);
console.log(await content.text());`),
  signFile: user(`${file}
const { url } = await backlot.storage.sign(stored.id, 3600);
console.log(url);`),
  attachFile: user(`const file = new File(['Hello'], 'hello.txt');
const stored = await backlot.storage.upload(file, { visibility: 'private' });
${todo}
await backlot.storage.attach(stored.id, { collection: 'todos', recordId: todo.id });`),
  deleteFile: user(`${file}
await backlot.storage.delete(stored.id);`),

  generateText:
    user(`const prompt = { messages: [{ role: 'user', content: 'Name a teapot.' }], maxTokens: 200 };
const { text } = await backlot.ai.generate(prompt);
console.log(text);
for await (const part of backlot.ai.stream(prompt)) console.log(part);`),
  sendEmail: user(
    `await backlot.email.send({ to: email, subject: 'Hello', html: '<p>Your teapot is ready.</p>' });`,
  ),

  createCheckout: user(`const { url, sessionId } = await backlot.payments.checkout({
  items: [{ name: 'Teapot', amount: 1999, quantity: 1 }],
  returnUrl: 'http://localhost:8080/examples/shop/receipt.html',
});
console.log(sessionId); // location.assign(url) leads to the payment page`),
  verifyPayment: user(`const { sessionId } = await backlot.payments.checkout({
  items: [{ name: 'Teapot', amount: 1999 }],
  returnUrl: 'http://localhost:8080/examples/shop/receipt.html',
});
const { paid } = await backlot.payments.verify(sessionId);
console.log(paid);`),
  listMyPayments: user(`const { items } = await backlot.payments.list();
console.log(items.map(({ amount, status }) => [amount, status]));`),
  listProducts: visitor(`const { items } = await backlot.products.list();
console.log(items.map(({ name, amount }) => [name, amount]));`),
  setProduct:
    key(`const mug = await backlot.products.set('mug', { name: 'Mug', amount: 1200, currency: 'usd' });
console.log(mug.amount);`),
  getProduct:
    key(`await backlot.products.set('mug', { name: 'Mug', amount: 1200, currency: 'usd' });
const mug = await backlot.products.get('mug');
console.log(mug.name);`),
  deleteProduct:
    key(`await backlot.products.set('cup', { name: 'Cup', amount: 900, currency: 'usd' });
await backlot.products.delete('cup');`),
};

/** A whole module, or undefined where the client has no call of its own. */
export const writeSdk = (
  operationId: string,
  host: string,
  baseUrl: string,
): string | undefined => {
  const example = Object.hasOwn(sdkExamples, operationId) ? sdkExamples[operationId] : undefined;
  if (!example) return undefined;
  const options = example.as === 'key' ? `, { key: 'a secret key' }` : '';
  const signUp = `const email = \`ada-\${crypto.randomUUID()}@example.org\`;
await backlot.auth.signUp({ email, password: ${password} });
`;
  return `import { createClient } from '${host}/sdk.js';

const backlot = createClient('${baseUrl}'${options});
${example.as === 'user' ? signUp : ''}${example.code}`;
};
