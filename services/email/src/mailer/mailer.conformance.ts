import { expect, it } from '@jest/globals';
import type { Mailer, OutgoingMail } from './mailer.ts';

let mails = 0;
export const outgoing = (changes: Partial<OutgoingMail> = {}): OutgoingMail => ({
  id: `018f0000-0000-7000-8000-${String(++mails).padStart(12, '0')}`,
  projectNumber: 1001,
  projectId: 'testproject',
  from: { name: 'Test project', address: 'no-reply@mail.example.org' },
  to: ['ada@example.org'],
  cc: [],
  bcc: [],
  replyTo: null,
  subject: 'Hello',
  html: '<p>Hi</p>',
  text: null,
  attachments: [],
  createdAt: new Date('2026-11-21T05:00:00Z'),
  ...changes,
});

export interface MailerUnderTest {
  mailer: Mailer;
  /** How often the provider got a mail with this text in it. */
  received(text: string): Promise<number>;
}

/** What every mailer keeps to. */
export const conformsAsMailer = (under: () => MailerUnderTest): void => {
  const status = () => (under().mailer.reachesPeople ? 'sent' : 'captured');

  it('takes a mail once, to one recipient or ten, and says so', async () => {
    for (const count of [1, 10]) {
      const to = Array.from({ length: count }, (_, index) => `person${index}@example.org`);
      const mail = outgoing({ to, subject: `To ${count} people` });
      expect(await under().mailer.send(mail, async () => {})).toEqual({
        status: status(),
        refused: [],
      });
      expect(await under().received(mail.id)).toBe(under().mailer.reachesPeople ? 1 : 0);
    }
  });

  it('asks, once, before the provider has the message', async () => {
    const mail = outgoing({ text: 'Hi' });
    const receivedBefore: number[] = [];
    await under().mailer.send(mail, async () => {
      receivedBefore.push(await under().received(mail.id));
    });
    expect(receivedBefore).toEqual([0]);
  });

  it('hands nothing over where it may not, and works on', async () => {
    const mail = outgoing();
    const refusal = new Error('claimed by another');
    const sending = under().mailer.send(mail, () => Promise.reject(refusal));
    await expect(sending).rejects.toBe(refusal);
    expect(await under().received(mail.id)).toBe(0);
    await under().mailer.send(outgoing(), async () => {});
  });

  it('carries twenty mails at once', async () => {
    const all = Array.from({ length: 20 }, () => outgoing());
    const answers = await Promise.all(all.map((mail) => under().mailer.send(mail, async () => {})));
    expect(answers.map((answer) => answer.status)).toEqual(all.map(status));
  });
};
