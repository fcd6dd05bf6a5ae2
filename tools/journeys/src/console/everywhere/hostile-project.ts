import type { ConsoleUnderTest, OwnedProject } from '../console-under-test.ts';

/** Runs where somebody takes it for HTML. */
export const script = '<img src=x onerror="hasRun=1">';
/** Shown backwards, it would end with `txt.exe`. */
const turned = '\u202Egnp.exe';
const unbroken = 'W'.repeat(60);
/** A text of this many letters at most. */
const hostile = (most: number) => `${script}=1+1${unbroken.repeat(5)}`.slice(0, most);

/** A project in which all that people can write is hostile. */
export const hostileProject = async ({
  platform,
}: ConsoleUnderTest): Promise<OwnedProject & { userId: string; groupId: string }> => {
  const project = await platform.newProject();
  const { id, owner, api } = project;
  const { token } = owner;
  const made = async (answer: ReturnType<typeof api>) => {
    const { status, body } = await answer;
    if (status >= 300) throw new Error(`It answered ${status}: ${JSON.stringify(body)}`);
    return body;
  };
  const control = (method: string, path: string, body: object) =>
    made(platform.control(method, `/projects/${id}${path}`, { token, body }));
  const create = (collection: string, data: object) =>
    made(api('POST', `/db/${collection}`, { token, body: { data } }));

  await control('PATCH', '', { name: hostile(100) });
  const keys = Array.from({ length: 1000 }, (_, n) => [`${unbroken}${n}`, hostile(200)]);
  await create('wide', Object.fromEntries(keys));
  const name = `c${unbroken}`;
  await create(name, { title: hostile(300), [script]: `${turned}.txt`, '=1+1': '@SUM(A1)' });
  await create(name, { title: 'x'.repeat(1_000_000), [script]: turned });
  await create('payments', { deep: { [script]: [turned] } });

  const user = await made(
    api('POST', '/auth/signup', {
      body: {
        email: `${'a'.repeat(60)}@${'b'.repeat(60)}.${'c'.repeat(60)}.example.org`,
        password: 'a good long password',
        name: hostile(100),
      },
    }),
  );
  const userId = String(user.user.id);
  await control('PATCH', `/users/${userId}`, { blocked: true, reason: turned + hostile(200) });
  const group = await made(
    api('POST', '/groups', { token, body: { name: hostile(100), ownerId: userId } }),
  );
  const form = new FormData();
  form.set('file', new File(['<script>window.hasRun=1</script>'], `${hostile(150)}.html`));
  const uploaded = await fetch(`${platform.url}/api/runtime/${id}/storage/upload`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
    body: form,
  });
  if (!uploaded.ok) throw new Error(await uploaded.text());
  const mail = { to: 'owner', subject: turned + hostile(190), html: `<p>${script}${unbroken}</p>` };
  await made(api('POST', '/email/send', { token, body: mail }));
  await control('PUT', '/mail-templates/receipt', {
    subject: turned + hostile(190),
    html: '<p>Hello</p>',
    to: 'owner',
  });
  await made(
    api('PUT', `/products/${unbroken}`, {
      token,
      body: { name: hostile(250), amount: 99_999_999, currency: 'usd' },
    }),
  );
  const returnUrl = 'http://localhost:3000/';
  const items = [{ product: unbroken, quantity: 1 }];
  await made(api('POST', '/payments/checkout', { token, body: { items, returnUrl } }));
  await control('PUT', `/prompts/${'w'.repeat(60)}`, { system: turned + hostile(340).repeat(20) });
  await control('PUT', `/webhooks/${'w'.repeat(60)}`, {
    url: `http://localhost:9/${unbroken.repeat(10)}`,
    on: [`record.created:${name}`],
    where: { [script]: turned + hostile(300) },
  });
  await control('POST', '/keys', { name: hostile(100), scopes: ['read'] });
  await api('POST', '/db/wide', { body: { [hostile(60)]: 1, [turned]: 2, ...user } });
  await api('GET', `/db/${encodeURIComponent(hostile(200))}`, {});
  await api('GET', `/db/wide?where=${encodeURIComponent(JSON.stringify({ $a: script }))}`, {});
  return { ...project, userId, groupId: String(group.id) };
};
