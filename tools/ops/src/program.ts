/**
 * The command of operators. Owns: a command for each call that an operator may make, by the contract,
 * and those that need what no call reaches, such as a back-up.
 * Refuses: rules of its own about calls: the gateway and the services decide.
 */
import { type RouteDefinition, routes } from '@backlot/contract';
import { Command } from 'commander';
import { addBackup } from './commands/backup.ts';
import { addMigrateStatus } from './commands/migrate-status.ts';
import { addRestore } from './commands/restore.ts';
import { addRestoreProjectAsOf } from './commands/restore-project-as-of.ts';
import { addRetireRoles } from './commands/retire-roles.ts';
import { addRotateMaster } from './commands/rotate-master.ts';
import { addRoute, isCommand } from './route-command.ts';

/** What runs beside the servers, and reads their settings. One file each in `commands/`. */
const localCommands: readonly ((program: Command) => void)[] = [
  addBackup,
  addRestore,
  addRestoreProjectAsOf,
  addMigrateStatus,
  addRetireRoles,
  addRotateMaster,
];

const about = `Calls go to BACKLOT_HOST (http://localhost:8080) with BACKLOT_OPERATOR_TOKEN. Answers are JSON.
Exit codes: 0 done, 1 refused, 2 no such command or option, 3 not reached or not now.`;

/** What is the operator's alone comes first, then the control plane, then what users call as well. */
const order = ({ plane, callers }: RouteDefinition): number =>
  Number(callers.length > 1) + Number(plane === 'runtime');

const defaultColumns = 120;

export const createProgram = (): Command => {
  const program = new Command('ops')
    .description("Every operator's call, and what is done beside the servers")
    .addHelpText('after', `\n${about}`)
    .showHelpAfterError('(ops <command> --help shows its options)')
    .configureOutput({ getOutHelpWidth: () => process.stdout.columns ?? defaultColumns })
    .exitOverride();
  for (const add of localCommands) add(program);
  const calls = routes.filter(isCommand).sort((a, b) => order(a) - order(b));
  for (const route of calls) addRoute(program, route);
  return program;
};
