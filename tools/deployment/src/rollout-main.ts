import { runDocker } from './docker.ts';
import { rollOut } from './rollout.ts';
import { setUsers } from './running-users.ts';

const step = process.argv.slice(2).join(' ');
if (step === '') await rollOut(runDocker, console.log);
else if (step === 'users') await setUsers(runDocker);
else {
  console.log('Use: rollout, or rollout users for those of Redis and RabbitMQ alone.');
  process.exitCode = 1;
}
