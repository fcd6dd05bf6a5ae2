import type { ServiceName } from './services.ts';

/** What fails, or works less well, while something that the platform needs is amiss. */
const affectedBy: Readonly<Record<string, string>> = {
  postgresql: 'Nearly every call fails: data can be neither read nor written.',
  'postgresql disk_full': 'Writes fail; what is there can be read.',
  'postgresql read_only': 'Writes fail; what is there can be read.',
  'postgresql connections_exhausted':
    'Every call is served, and waits for one of the connections that there are.',
  'postgresql refuses_role':
    'Calls of the services that it refuses fail: their role or its password is not what it knows.',
  redis:
    'Calls with a price are refused. Each gateway counts limits for itself, so that callers get more than their share.',
  'redis refuses_user':
    'Calls with a price are refused, and each gateway counts limits for itself: the user or its password is not what Redis knows.',
  'rabbitmq refuses_user':
    'Events wait, of processes whose user or password is not what RabbitMQ knows: usage is booked, mails are sent and apps are told later.',
  rabbitmq:
    'Events wait: usage is booked, mails are sent and apps are told later. A revoked key or session can still be used for some seconds.',
  files: 'Uploads, downloads and images fail.',
  model: 'AI calls fail.',
  mailer: 'Mails wait, and are tried again for hours.',
  secrets:
    'Keys and secrets that projects entrusted to a service do not open: calls that need them fail.',
  backups:
    'No call. If the database were lost now, so would be all that was written since the last back-up.',
  ...({
    auth: 'Nobody can sign in or up. Who is signed in stays so.',
    records: 'Records can be neither read nor written.',
    ai: 'AI calls fail.',
    storage: 'Uploads, downloads and images fail.',
    email: 'Mails wait; what is asked of them fails.',
    payments: 'Nobody can pay; payments that providers report are reported again.',
    projects:
      'The console fails. Projects that a gateway knows are served; others are not found until it is back.',
  } satisfies Record<ServiceName, string>),
};

/** In plain words, for the operator. @param reason in one word, where it is known */
export const describeEffect = (name: string, reason?: string): string =>
  affectedBy[`${name} ${reason}`] ?? affectedBy[name] ?? 'Some calls fail.';
