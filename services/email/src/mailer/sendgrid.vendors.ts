import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { type SendgridStub, startSendgridStub } from '../testing/sendgrid-stub.ts';
import { outgoing } from './mailer.conformance.ts';
import { createSendgridMailer } from './sendgrid.ts';

const good = {
  from: { email: 'a@example.org' },
  personalizations: [{ to: [{ email: 'b@example.org' }] }],
  subject: 'x',
  content: [{ type: 'text/html', value: 'x' }],
};

describe('Twilio’s own description of SendGrid', () => {
  let stub: SendgridStub;
  let judge: ValidateFunction;
  beforeAll(async () => {
    stub = await startSendgridStub();
    const folder = process.env.VENDOR_SPECS;
    if (!folder) throw new Error('Set VENDOR_SPECS to the folder of the descriptions.');
    const api: object = JSON.parse(await readFile(join(folder, 'sendgrid.mail.json'), 'utf8'));
    const ajv = new Ajv2020({ strict: false, logger: false });
    addFormats.default(ajv);
    ajv.addSchema(api, 'sendgrid');
    judge = ajv.compile({
      $ref: 'sendgrid#/components/requestBodies/PostMailSend/content/application~1json/schema',
    });
  });
  afterAll(() => stub.stop());

  it('tells a good request from a bad one', () => {
    expect(judge(good)).toBe(true);
    for (const bad of [
      { ...good, from: undefined },
      { ...good, from: { email: 'nobody' } },
      { ...good, personalizations: [{ to: [{ name: 'b' }] }] },
      { ...good, content: [{ type: 'text/html' }] },
      { ...good, categories: Array.from({ length: 11 }, String) },
    ]) {
      expect(judge(JSON.parse(JSON.stringify(bad)))).toBe(false);
    }
  });

  it('takes what we send', async () => {
    const mailer = createSendgridMailer({ ...stub, apiKey: 'SG.x', timeoutMs: 1000 });
    const mails = [
      outgoing(),
      outgoing({ text: 'Hi', to: Array.from({ length: 10 }, (_, n) => `p${n}@example.org`) }),
      outgoing({ from: { name: '“Ada’s”, <shop>', address: 'no-reply@mail.example.org' } }),
      outgoing({ cc: ['bob@example.org', 'carol@example.org'], replyTo: 'dan@example.org' }),
      outgoing({
        attachments: [{ name: 'ä.txt', type: 'text/plain', content: Buffer.from('ä') }],
      }),
      outgoing({ html: '{{name}} -name- %name%', subject: '用户' }),
    ];
    for (const mail of mails) await mailer.send(mail, async () => {});
    expect(stub.requests).toHaveLength(mails.length);
    for (const { body } of stub.requests) {
      const accepted = judge(JSON.parse(body));
      expect({ accepted, errors: judge.errors }).toEqual({ accepted: true, errors: null });
    }
  });
});
