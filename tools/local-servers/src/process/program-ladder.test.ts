import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { findServer } from './program-ladder.ts';

const needed = {
  name: 'Marvel',
  candidates: ['marvel-server'],
  debianPackage: 'marvel-server',
  setting: 'MARVEL_URL',
};

describe('the ladder of servers', () => {
  const path = process.env.PATH;
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'backlot-ladder-'));
    process.env.PATH = folder;
  });
  afterEach(async () => {
    process.env.PATH = path;
    await rm(folder, { recursive: true, force: true });
  });
  const program = (name: string, script: string) =>
    writeFile(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });

  const engine = async () => true;
  const noEngine = async () => false;

  it('takes the program on the PATH before a container', async () => {
    await program('marvel-server', 'exit 0');
    expect(await findServer(needed, engine)).toEqual({
      kind: 'program',
      path: join(folder, 'marvel-server'),
    });
  });

  it('takes a container where an engine answers', async () => {
    expect(await findServer(needed, engine)).toEqual({ kind: 'container' });
  });

  it('says what to install where there is no program and no engine', async () => {
    await expect(findServer(needed, noEngine)).rejects.toThrow(
      'Marvel is needed and not here. Install it (Debian and Ubuntu: apt-get install ' +
        'marvel-server; macOS: brew install marvel), or start Docker, or set MARVEL_URL',
    );
  });

  if (process.getuid?.() === 0) {
    it('as root installs the Debian package, and lets no service start meanwhile', async () => {
      const place = join(folder, 'marvel-server');
      const install = `printf '#!/bin/sh\\n' > ${place} && /bin/chmod 755 ${place}`;
      const silenced = "/bin/grep -q '^exit 101$' /usr/sbin/policy-rc.d";
      await program('apt-get', `case "$*" in *marvel*) ${silenced} && ${install};; esac`);
      expect(await findServer(needed, noEngine)).toEqual({
        kind: 'program',
        path: join(folder, 'marvel-server'),
      });
    });
  }
});
