import { readConfig } from './config.ts';
import { startPlatform } from './platform.ts';

const requiredMajor = 24;
const major = Number(process.versions.node.split('.')[0]);

const run = async () => {
  if (major < requiredMajor)
    throw new Error(`Node ${requiredMajor} or newer is needed; this is ${process.version}.`);
  const platform = await startPlatform(readConfig(process.env));
  const { url, projectId, owner, operatorToken } = platform;
  console.log(`Backlot is ready.

  Base URL        ${url}/api/runtime/${projectId}
  API page        ${url}/docs
  Example         ${url}/examples/guestbook/
  Owner sign-in   ${owner.email}  ${owner.password}   (POST ${url}/api/runtime/platform/auth/signin)
  Operator token  ${operatorToken}

Ctrl-C stops it; everything is kept.`);

  let stopping = false;
  const stop = () => {
    if (stopping) return;
    stopping = true;
    console.log('Stopping …');
    platform.stop().then(
      () => console.log('Stopped.'),
      (error: unknown) => {
        console.error(error);
        process.exitCode = 1;
      },
    );
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
};

run().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
