import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { answersWith } from './process/exchange.ts';
import { findFreePort } from './process/free-port.ts';
import { asOrdinaryUser, type Ids, ordinaryIds } from './process/ordinary-user.ts';
import { type OwnServer, startOwnServer } from './process/own-server.ts';
import { findServer } from './process/program-ladder.ts';
import { openServerFolder } from './process/server-folder.ts';

export interface EximOptions {
  /** Holds the log; what exim itself writes lies in a folder that its user can reach. */
  dataDir: string;
}

/**
 * A mail server on 127.0.0.1 that keeps every mail instead of sending it on. It offers STARTTLS and,
 * below it, sign-in; takes messages up to 1 MB; refuses each recipient `nobody@…` for good and
 * `later@…` for the moment; and takes recipients at `members.example` from those alone who signed in.
 */
export interface RunningExim extends OwnServer {
  port: number;
  user: string;
  password: string;
  /** Of the server, for `localhost` and 127.0.0.1; in PEM. */
  certificate: string;
  /** The messages accepted so far, once delivered, headers of the delivery included, in no order. */
  messages(): Promise<string[]>;
}

const run = promisify(execFile);

const sizeLimit = '1M';
const user = 'backlot';

const settings = (folder: string, port: number, password: string, { uid, gid }: Ids) => `
primary_hostname = localhost
spool_directory = ${folder}/spool
log_file_path = ${folder}/log/%s
pid_file_path = ${folder}/exim.pid
daemon_smtp_ports = ${port}
local_interfaces = 127.0.0.1
acl_smtp_rcpt = recipient
message_size_limit = ${sizeLimit}
smtputf8_advertise_hosts = *
tls_advertise_hosts = *
tls_certificate = ${folder}/certificate.pem
tls_privatekey = ${folder}/key.pem
auth_advertise_hosts = *
host_lookup =
rfc1413_query_timeout = 0s
smtp_accept_max = 100
smtp_accept_queue_per_connection = 0
deliver_drop_privilege
keep_environment =
exim_user = ${uid}
exim_group = ${gid}
admin_groups = ${gid}
begin acl
recipient:
  deny local_parts = nobody
       message = no such user
  defer local_parts = later
  deny domains = members.example
       !authenticated = *
       message = sign in first
  accept
begin routers
all:
  driver = accept
  transport = kept
begin transports
kept:
  driver = appendfile
  directory = ${folder}/mail
  maildir_format
  envelope_to_add
  return_path_add
  batch_max = 100
begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  server_condition = \${if and{{eq{$auth2}{${user}}}{eq{$auth3}{${password}}}}}
  server_set_id = $auth2
  server_advertise_condition = \${if def:tls_in_cipher}
`;

/** Throws with what to install when there is no exim. Its data goes when it stops. */
export async function startExim({ dataDir }: EximOptions): Promise<RunningExim> {
  const exim = await findServer({
    name: 'exim',
    candidates: ['exim4', 'exim'],
    debianPackage: 'exim4-daemon-light',
    homebrewPackage: 'exim',
    notInDocker: true,
  });
  const openssl = await findServer({
    name: 'openssl',
    candidates: ['openssl'],
    debianPackage: 'openssl',
    notInDocker: true,
  });
  const folder = await openServerFolder(dataDir, 'exim', true);
  const place = await mkdtemp(join(tmpdir(), 'backlot-exim-'));
  const remove = () => rm(place, { recursive: true, force: true, maxRetries: 5 });
  try {
    const port = await findFreePort(26_000 + Math.floor(Math.random() * 2_000));
    const password = randomBytes(12).toString('hex');
    await makeCertificate(openssl.path, place);
    const file = join(place, 'exim.conf');
    await writeFile(file, settings(place, port, password, ordinaryIds()), { mode: 0o600 });
    for (const name of ['spool', 'log', 'mail']) await mkdir(join(place, name));
    const server = await startOwnServer(
      {
        name: 'exim',
        ...(await asOrdinaryUser(exim.path, ['-C', file, '-bdf'], place)),
        env: { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' },
        marker: file,
        ready: () => answersWith(port, 'QUIT\r\n', (answer) => answer.toString().startsWith('220')),
      },
      folder,
    );
    return {
      ...server,
      port,
      user,
      password,
      certificate: await readFile(join(place, 'certificate.pem'), 'utf8'),
      async messages() {
        await untilDelivered(join(place, 'spool', 'input'));
        return readAll(join(place, 'mail', 'new'));
      },
      stop: () => server.stop().finally(remove),
    };
  } catch (error) {
    await folder.release();
    await remove();
    throw error;
  }
}

async function makeCertificate(openssl: string, place: string): Promise<void> {
  await run(openssl, [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-keyout',
    join(place, 'key.pem'),
    '-out',
    join(place, 'certificate.pem'),
    '-days',
    '7',
    '-subj',
    '/CN=localhost',
    '-addext',
    'subjectAltName=DNS:localhost,IP:127.0.0.1',
  ]);
}

/** exim delivers after its answer, each mail in a process of its own: a later mail may be there first. */
async function untilDelivered(spool: string): Promise<void> {
  const end = Date.now() + 30_000;
  for (;;) {
    const waiting = (await readdir(spool).catch(() => [])).filter((name) => name.endsWith('-H'));
    if (waiting.length === 0) return;
    if (Date.now() > end) throw new Error(`exim has not delivered ${waiting.length} mails in 30 s`);
    await setTimeout(20);
  }
}

async function readAll(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
}
