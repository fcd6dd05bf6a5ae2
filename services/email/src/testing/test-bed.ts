import type { Bus } from '@backlot/bus';
import type {
  AccountSnapshot,
  FileDirectory,
  FilesAsking,
  Mail,
  Payload,
  ProjectSnapshot,
} from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import type { ServiceOf } from '@backlot/service';
import {
  anonymous,
  asOwner,
  createServiceBed,
  createTestClock,
  type ServiceBed,
  type TestAnswer,
  testProject,
} from '@backlot/testing';
import { type EmailConfig, emailConfig } from '../config.ts';
import { createDevMailbox } from '../mailer/dev-mailbox.ts';
import type { Delivery, Mailer, OutgoingMail } from '../mailer/mailer.ts';
import { emailService } from '../service.ts';

export const callId = '018f0000-0000-7000-8000-0000000000c1';
export const ownerAddress = 'owner@example.org';

export const masterKey = Buffer.alloc(32, 5);
export const neededSettings = { BACKLOT_SECRETS_KEYS: masterKey.toString('base64') };

/** Its visitors may send as many mails as a test needs. */
const unboundedProject = { ...testProject, settings: { emailPerVisitorPerDay: 1_000_000 } };

/** A caller without credentials for whom the gateway has reserved so much; null makes the call free. */
export const reserved = (
  millicredits: number | null,
  project: Identity['project'] = unboundedProject,
): Identity =>
  anonymous({
    project,
    reservation: millicredits === null ? null : { callId, millicredits, millicreditsPerUnit: 1000 },
  });

export const projectSnapshot: Omit<ProjectSnapshot, 'limits'> = {
  ...testProject,
  status: 'active',
  settings: {},
};

export interface FakeMailer extends Mailer {
  /** What it was asked to send, in the order in which the worker took it. */
  taken: OutgoingMail[];
  /** What was handed over; of mails under way at once, the one whose hand-over was stored first. */
  sent: OutgoingMail[];
  /** How the next mails end; `sent` to everybody without it. */
  answer: (mail: OutgoingMail) => Promise<Delivery>;
}

/** A provider that takes everything, or does what a test says. */
export const createFakeMailer = (): FakeMailer => {
  const fake: FakeMailer = {
    reachesPeople: true,
    taken: [],
    sent: [],
    answer: async () => ({ status: 'sent', refused: [] }),
    async send(mail, handOver) {
      fake.taken.push(mail);
      await handOver();
      fake.sent.push(mail);
      return fake.answer(mail);
    },
    async close() {},
  };
  return fake;
};

export interface TestBedOptions {
  mailer?: Mailer;
  config?: Partial<EmailConfig>;
  bus?: Bus;
  /** Another process with the database and the clock of this bed. */
  beside?: TestBed;
}

/** What the storage service holds. */
export interface FakeFiles {
  /** By id. */
  all: Map<string, { name: string; type: string; content: Buffer; size?: number }>;
  /** Those that callers may not read. */
  hidden: Set<string>;
  /** Who asked. */
  readers: FilesAsking[];
  isUnavailable: boolean;
}

const createFakeFiles = (): FakeFiles & { directory: FileDirectory } => {
  const files: FakeFiles = { all: new Map(), hidden: new Set(), readers: [], isUnavailable: false };
  const checkAvailable = () => {
    if (files.isUnavailable) throw new Error('storage is down');
  };
  const directory: FileDirectory = {
    async describeFiles(asking) {
      checkAvailable();
      files.readers.push(asking);
      return asking.fileIds.flatMap((id) => {
        const file = files.hidden.has(id) ? undefined : files.all.get(id);
        if (!file) return [];
        const { name, type, content, size = content.length } = file;
        return [{ id, name, type, size }];
      });
    },
    async readFile(projectNumber, id) {
      checkAvailable();
      return (projectNumber === testProject.number && files.all.get(id)?.content) || null;
    },
  };
  return Object.assign(files, { directory });
};

/** Its clock stands still until a test moves it. */
export interface TestBed extends Omit<ServiceBed<object>, 'service' | 'another'> {
  service: ServiceOf<typeof emailService>;
  /** Changes the test project as the projects service returns it. */
  setProject(changes: Partial<typeof projectSnapshot>): void;
  /** Ids of projects without an owner. */
  others: Set<string>;
  /** Verified addresses of accounts in the test project. */
  users: Set<string>;
  /** Of users of the test project, by id. */
  accounts: Map<string, AccountSnapshot>;
  /** Whom the service has asked, and what. */
  asked: string[];
  /** What the projects service says of the owner. */
  owner: { isVerified: boolean; isUnavailable: boolean };
  files: FakeFiles;
  /** POST /email/send with 10,000 milli-credits reserved unless stated. */
  send(
    body: unknown,
    options?: { identity?: Identity; headers?: Record<string, string> },
  ): Promise<TestAnswer>;
  /** As the owner sees them, newest first. */
  list(query?: string): Promise<Mail[]>;
  /** What was stored for the ledger; empties the outbox. */
  takeUsage(): Promise<Payload<'usage.recorded'>[]>;
}

export const createTestBed = async (options: TestBedOptions = {}): Promise<TestBed> => {
  const { beside, bus } = options;
  const users = new Set<string>();
  const others = new Set<string>();
  const accounts = new Map<string, AccountSnapshot>();
  const asked: string[] = [];
  const owner = { isVerified: true, isUnavailable: false };
  const files = createFakeFiles();
  let project = projectSnapshot;
  const bed = await createServiceBed(
    emailService,
    {
      config: { ...emailConfig.read(neededSettings), ratePerSecond: 10_000, ...options.config },
      mailer: options.mailer ?? createDevMailbox(),
      projects: {
        async findProject(id) {
          asked.push(`project ${id}`);
          const limits = {} as ProjectSnapshot['limits'];
          if (others.has(id)) return { ...projectSnapshot, id, ownerId: null, limits };
          return id === project.id ? { ...project, limits } : null;
        },
        findKey: async () => null,
      },
      accounts: {
        async registered(number, emails) {
          asked.push(`${emails.length} addresses of ${number}`);
          return emails.filter((email) =>
            number === project.number ? users.has(email) : email === ownerAddress,
          );
        },
        async findAccount(number, id) {
          asked.push(`account ${id} of ${number}`);
          return number === 1 && id === project.ownerId
            ? { email: ownerAddress, name: 'Olga', emailVerified: true }
            : (number === project.number && accounts.get(id)) || null;
        },
      },
      files: files.directory,
      owners: {
        async isVerified() {
          if (owner.isUnavailable) throw new Error('projects is down');
          return owner.isVerified;
        },
      },
    },
    {
      clock: beside?.clock ?? createTestClock({ stands: true }),
      ...(beside && { databaseUrl: beside.databaseUrl }),
      ...(bus && { bus }),
    },
  );
  return {
    ...bed,
    others,
    users,
    accounts,
    asked,
    owner,
    files,
    setProject(changes) {
      project = { ...project, ...changes };
    },
    send: (body, { identity = reserved(10_000), headers = {} } = {}) =>
      bed.call('POST', '/email/send', { identity, headers, body }),
    async list(query = '') {
      const path = `/platform/projects/${testProject.id}/emails${query}`;
      const { body } = await bed.call('GET', path, { identity: asOwner() });
      return body.items;
    },
    takeUsage: () => bed.take('usage.recorded'),
  };
};
