import { once } from 'node:events';
import { call, type Target } from './api.ts';
import { projectPath, readPages } from './pages.ts';

const write = async (line: object): Promise<void> => {
  if (!process.stdout.write(`${JSON.stringify(line)}\n`)) await once(process.stdout, 'drain');
};

interface Account {
  user: { email: string | null };
}

/** Writes a line for the account, and one for each record, file, mail and payment; never more than a page of them is in memory. @throws CallFailed */
export const exportUser = async (target: Target, project: string, id: string): Promise<void> => {
  const name = encodeURIComponent(id);
  const ofProject = (rest: string) => projectPath(project, rest);
  const account = await call<Account>(target, 'GET', ofProject(`/users/${name}/export`));
  await write({ kind: 'account', ...account });
  const { email } = account.user;
  const lists = [
    ['record', ofProject(`/users/${name}/records?`)],
    ['file', ofProject(`/files?owner=${name}&`)],
    ...(email === null
      ? []
      : [['mail', ofProject(`/emails?email=${encodeURIComponent(email)}&`)] as const]),
    ['payment', ofProject(`/payments?user=${name}&`)],
  ] as const;
  for (const [kind, path] of lists)
    for await (const items of readPages(target, path))
      for (const item of items) await write({ kind, ...item });
};
