import type { Command } from 'commander';
import { CallFailed, call, findHost, type Target } from '../api.ts';
import { readHidden } from '../password.ts';
import { solve } from '../proof-of-work.ts';
import { keepSession } from '../session.ts';

interface LoginOptions {
  email: string;
  signUp?: true;
  code?: string;
}

interface FactorAsked {
  factorToken: string;
  factors: string[];
}

const auth = '/api/runtime/platform/auth';

/** @throws CallFailed */
const showFactor = async (
  target: Target,
  { factorToken, factors }: FactorAsked,
  given: string | undefined,
): Promise<string> => {
  if (!factors.includes('totp'))
    throw new CallFailed(
      'This account signs in with a passkey, which takes a browser.',
      'A secret key of the project opens what the command does: BACKLOT_KEY, or --key.',
    );
  const code = given ?? (await readHidden('Code of the authenticator app, or a recovery code'));
  const path = `${auth}/factors/verify`;
  const body = { factorToken, code };
  return (await call<{ token: string }>(target, 'POST', path, body)).token;
};

export const addLogin = (program: Command): void => {
  program
    .command('login')
    .description('Sign in as an owner; BACKLOT_PASSWORD, or it is asked for')
    .requiredOption('--email <address>', 'of the account')
    .option('--sign-up', 'make the account')
    .option('--code <code>', 'of an account with a second factor, or it is asked for')
    .action(async ({ email, signUp, code }: LoginOptions, command: Command) => {
      const host = await findHost(command);
      const password = process.env.BACKLOT_PASSWORD ?? (await readHidden('Password'));
      const path = `${auth}/${signUp ? 'signup' : 'signin'}`;
      const target = { host, credential: undefined };
      const account = { email, password };
      const send = (headers?: Readonly<Record<string, string>>) =>
        call<{ token: string } | FactorAsked>(target, 'POST', path, account, headers);
      const answer = await send().catch((error: unknown) => {
        if (!(error instanceof CallFailed) || !error.challenge) throw error;
        return send({ 'backlot-proof': solve(error.challenge) });
      });
      const token = 'token' in answer ? answer.token : await showFactor(target, answer, code);
      const file = await keepSession({ host, token });
      process.stdout.write(`Signed in at ${host}; the token is in ${file}.\n`);
    });
};
