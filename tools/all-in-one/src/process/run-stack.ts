import { readConfig } from '../config.ts';
import { startStack } from '../stack/stack.ts';
import { runCommand } from './command.ts';

runCommand(async () => {
  const write = (text: string) => void process.stdout.write(text);
  const stack = await startStack(readConfig(process.env), write, process.stdout.isTTY);
  const [url, other] = stack.urls;
  console.log(`Backlot is ready, every service a process of its own.

  Start here      ${stack.ownerUrl}   (signs you in as the owner, once)
  Front page      ${url}
  Base URL        ${url}/api/runtime/${stack.projectId}
  Second gateway  ${other}
  Mailbox         ${stack.mailboxUrl}   (opens once)
  Owner sign-in   ${stack.owner.email}  ${stack.owner.password}   (POST ${url}/api/runtime/platform/auth/signin)
  Operator token  ${stack.operatorToken}

Ctrl-C stops everything in order; what is in the database is kept.`);
  return stack;
});
