import { generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { platformProject } from '@backlot/contract';
import type { Identity } from '@backlot/identity';
import { anonymous, asKey, testProject } from '@backlot/testing';
import { expect } from '@jest/globals';
import { createFakeMailer, createTestBed, type FakeMailer, type TestBed } from './test-bed.ts';

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const webhookKey = publicKey.export({ type: 'spki', format: 'der' }).toString('base64');
export const inPlatform = anonymous({
  project: { ...testProject, id: platformProject.id, number: platformProject.number },
});

export interface Signing {
  at?: number;
  key?: typeof privateKey;
  change?: (body: string) => string;
  identity?: typeof inPlatform;
  headers?: Record<string, string>;
}

const open = { emailRecipients: 'anyone', emailPerVisitorPerDay: 1_000_000 };
export const anyoneIn = (project = testProject) =>
  asKey({ project: { ...project, settings: open } });
export const visitor = (changes: Partial<Identity> = {}) =>
  anonymous({ project: { ...testProject, settings: open }, ...changes });

export const event = (mail: { id: string; to: readonly string[] }, changes: object = {}) => ({
  event: 'bounce',
  type: 'bounce',
  sg_event_id: randomUUID(),
  email: mail.to[0],
  backlot_project: String(testProject.number),
  backlot_mail: mail.id,
  ...changes,
});

/** Mails go by SendGrid, whose events are signed with the key that the service knows. */
export const createSendgridBed = async (): Promise<{ bed: TestBed; mailer: FakeMailer }> => {
  const mailer = createFakeMailer();
  const bed = await createTestBed({
    mailer,
    config: {
      mailer: { kind: 'sendgrid', apiKey: 'SG.x', baseUrl: 'http://127.0.0.1:1', webhookKey },
    },
  });
  return { bed, mailer };
};

export const createSendgridCalls = (of: () => { bed: TestBed; mailer: FakeMailer }) => {
  const tell = (events: unknown, signing: Signing = {}) => {
    const body = JSON.stringify(events);
    const timestamp = String(Math.floor((signing.at ?? of().bed.clock.now()) / 1000));
    const signature = sign('sha256', Buffer.from(timestamp + body), signing.key ?? privateKey);
    return of().bed.call('POST', '/email/sendgrid-events', {
      identity: signing.identity ?? inPlatform,
      body: signing.change?.(body) ?? body,
      headers: signing.headers ?? {
        'x-twilio-email-event-webhook-signature': signature.toString('base64'),
        'x-twilio-email-event-webhook-timestamp': timestamp,
      },
    });
  };
  const send = (to: string | string[], project = testProject, identity = anyoneIn(project)) =>
    of().bed.send({ to, subject: 'x', html: 'x' }, { identity });
  const sendMany = async (count: number, project = testProject, identity = anyoneIn(project)) => {
    for (let n = 0; n < count; n++)
      expect((await send(`p${n}@example.org`, project, identity)).status).toBe(200);
    await of().bed.service.deliver();
    return of().mailer.sent.splice(0);
  };
  return { tell, send, sendMany };
};
