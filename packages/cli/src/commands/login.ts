import type { Command } from 'commander';
import { call, findHost } from '../api.ts';
import { readPassword } from '../password.ts';
import { keepSession } from '../session.ts';

interface LoginOptions {
  email: string;
  signUp?: true;
}

export const addLogin = (program: Command): void => {
  program
    .command('login')
    .description('Sign in as an owner; BACKLOT_PASSWORD, or it is asked for')
    .requiredOption('--email <address>', 'of the account')
    .option('--sign-up', 'make the account')
    .action(async ({ email, signUp }: LoginOptions, command: Command) => {
      const host = await findHost(command);
      const password = process.env.BACKLOT_PASSWORD ?? (await readPassword());
      const path = `/api/runtime/platform/auth/${signUp ? 'signup' : 'signin'}`;
      const target = { host, credential: undefined };
      const { token } = await call<{ token: string }>(target, 'POST', path, { email, password });
      const file = await keepSession({ host, token });
      process.stdout.write(`Signed in at ${host}; the token is in ${file}.\n`);
    });
};
