import { boundHeapGrowth } from '@backlot/service';
import { readConfig } from '../config.ts';
import { startPlatform } from '../platform.ts';
import { runCommand } from './command.ts';

boundHeapGrowth();
runCommand(async () => {
  const platform = await startPlatform(readConfig(process.env), {
    sampleData: true,
    ownerLink: true,
  });
  const { url, projectId, owner, demoUser, operatorToken, mailboxUrl, ownerUrl } = platform;
  console.log(`Backlot is ready.

  Start here      ${ownerUrl}   (signs you in as the owner, once)
  Front page      ${url}
  Base URL        ${url}/api/runtime/${projectId}
  API page        ${url}/docs
  Examples        ${url}/examples/shop/   (and guestbook/, board/, chat/, booking/ beside it)
  Mailbox         ${mailboxUrl}   (opens once)
  Owner sign-in   ${owner.email}  ${owner.password}   (POST ${url}/api/runtime/platform/auth/signin)${
    demoUser
      ? `\n  Demo user       ${demoUser.email}  ${demoUser.password}   (in the examples)`
      : ''
  }
  Operator token  ${operatorToken}

Ctrl-C stops it; everything is kept.`);
  return platform;
});
