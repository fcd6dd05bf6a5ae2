import { knownSettings } from '@backlot/service';
import { describe, expect, it } from '@jest/globals';
import { deployables } from './deployables.ts';
import { createSecrets } from './secrets.ts';
import { fromRoot, readText } from './testing/files.ts';

interface Row {
  settings: string[];
  readers: string[];
  cells: string[];
}

const codesIn = (cell: string) =>
  [...cell.matchAll(/`([A-Z0-9_<>]+)`/g)].map(([, name = '']) => name);

const readTable = async (): Promise<Row[]> => {
  const text = await readText(fromRoot('docs/operations.md'));
  const [, section = ''] = text.split('### Every secret\n');
  const [table = ''] = section.split('\n#');
  return table
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => {
      const cells = line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim());
      const [settings = '', readers = ''] = cells;
      return { settings: codesIn(settings), readers: readers.split(', '), cells };
    });
};

const processes = deployables.map(({ name }) => name.toUpperCase()).join('|');
/** A process's own stands in the table once for all. */
const toGeneral = (name: string) =>
  name
    .replace(
      new RegExp(`^BACKLOT_(${processes})_(IDENTITY_KEYS|DATABASE_URL|AMQP_URL|REDIS_URL)$`),
      (_all, _process, rest) => (rest === 'IDENTITY_KEYS' ? 'BACKLOT_IDENTITY_KEYS' : rest),
    )
    .replace(
      new RegExp(`^(${processes})_(POSTGRES|RABBITMQ|REDIS)_PASSWORD$`),
      '<PROCESS>_$2_PASSWORD',
    );

const soundsSecret =
  /(KEYS?|TOKEN|SECRET|PASSWORD|ENDPOINTS|SMTP_URL|DATABASE_URL|AMQP_URL|REDIS_URL)$/;
/** The half of a pair of keys that anybody may know, and a developer's own, of the command. */
const noSecrets = ['BACKLOT_SENDGRID_WEBHOOK_KEY', 'BACKLOT_KEY', 'BACKLOT_PASSWORD'];

describe('the table of every secret', () => {
  it('has each setting that is one, once, and none that is not', async () => {
    const listed = (await readTable()).flatMap(({ settings }) => settings);
    const known = [
      ...[...knownSettings].filter((name) => soundsSecret.test(name) && !noSecrets.includes(name)),
      ...deployables.flatMap((each) => [
        ...each.secrets,
        ...each.ownSecrets,
        ...each.optionalSecrets,
      ]),
      ...Object.keys(createSecrets()),
    ];
    expect(listed.toSorted()).toEqual([...new Set(known.map(toGeneral))].toSorted());
  });

  it('names the processes that read it, and says how it is exchanged and what its loss means', async () => {
    for (const { settings, readers, cells } of await readTable()) {
      const reading = deployables.filter((each) =>
        [...each.secrets, ...each.ownSecrets, ...each.optionalSecrets].some((setting) =>
          settings.includes(setting),
        ),
      );
      const names = reading.map(({ name }) => name);
      if (names.length === deployables.length)
        expect([settings, readers]).toEqual([settings, ['all']]);
      else if (names.length > 0)
        expect([settings, readers.toSorted()]).toEqual([settings, names.toSorted()]);
      expect([settings, cells.length, cells.every((cell) => cell !== '')]).toEqual([
        settings,
        5,
        true,
      ]);
    }
  });
});
