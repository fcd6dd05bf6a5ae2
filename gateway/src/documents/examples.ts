/** Each is a whole module: a journey runs it as it stands. */
export const examples = (host: string, baseUrl: string) => [
  {
    title: 'Accounts and records: sign up, create, list, filter, edit, delete',
    code: `import { createClient } from '${host}/sdk.js';

const client = createClient('${baseUrl}');
const email = \`ada-\${crypto.randomUUID()}@example.org\`;
await client.auth.signUp({ email, password: 'correct horse battery', name: 'Ada' });

const todos = client.db('todos');
const milk = await todos.create({ title: 'Buy milk', priority: 2, done: false });
await todos.create({ title: 'Call Bob', priority: 1, done: false });

const page = await todos.list({ where: { done: false }, sort: '-priority,title', limit: 20, mine: true });
console.log(page.items.map(({ title }) => title), page.hasMore);

await todos.update(milk.id, { data: { done: true }, inc: { priority: 1 } });
const { count } = await todos.count({ where: { priority: { $gte: 3 } }, mine: true });
console.log(count);
await todos.delete(milk.id);`,
  },
  {
    title: 'Files: upload with progress, show, list',
    code: `import { createClient } from '${host}/sdk.js';

const client = createClient('${baseUrl}');
const email = \`bob-\${crypto.randomUUID()}@example.org\`;
await client.auth.signUp({ email, password: 'correct horse battery' });

// In a page: const [file] = document.querySelector('input[type=file]').files;
// Node has no progress before the end.
const file = new File(['hello'], 'hello.txt', { type: 'text/plain' });
const stored = await client.storage.upload(file, {
  onProgress: (sent, total) => console.log(\`\${sent} of \${total} bytes\`),
});
console.log(stored.url, (await client.storage.list()).items.length);`,
  },
  {
    title: 'AI as a stream, and an error handled',
    code: `import { BacklotError, createClient } from '${host}/sdk.js';

const client = createClient('${baseUrl}');
let text = '';
try {
  for await (const part of client.ai.stream({ messages: [{ role: 'user', content: 'Say hello.' }] })) text += part;
} catch (error) {
  if (!(error instanceof BacklotError)) throw error;
  text = \`\${error.code}: \${error.message} \${error.hint ?? ''}\`;
}
console.log(text);`,
  },
];
