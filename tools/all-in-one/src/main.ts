import { runCommand } from './command.ts';
import { readConfig } from './config.ts';
import { startPlatform } from './platform.ts';

runCommand(async () => {
  const platform = await startPlatform(readConfig(process.env));
  const { url, projectId, owner, operatorToken, mailboxUrl } = platform;
  console.log(`Backlot is ready.

  Start here      ${url}
  Base URL        ${url}/api/runtime/${projectId}
  API page        ${url}/docs
  Examples        ${url}/examples/shop/  ${url}/examples/guestbook/  ${url}/examples/board/
  Mailbox         ${mailboxUrl}   (opens once)
  Owner sign-in   ${owner.email}  ${owner.password}   (POST ${url}/api/runtime/platform/auth/signin)
  Operator token  ${operatorToken}

Ctrl-C stops it; everything is kept.`);
  return platform;
});
