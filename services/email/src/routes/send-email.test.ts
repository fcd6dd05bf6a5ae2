import { costBounds, creditMillicredits, emailRoutes } from '@backlot/contract';
import { anonymous, asKey, asOwner, asUser, refusesStrangers, testProject } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { callId, createTestBed, reserved, type TestBed } from '../testing/test-bed.ts';

const hello = { to: 'ada@example.org', subject: 'Hello', html: '<p>Hi</p>' };

describe('sendEmail', () => {
  let bed: TestBed;
  beforeAll(async () => {
    bed = await createTestBed();
  });
  afterAll(() => bed.close());

  refusesStrangers(
    emailRoutes.sendEmail,
    () => bed.http,
    () => ({ path: '/email/send', body: hello }),
  );

  const nothingStored = async () => {
    expect(await bed.takeUsage()).toEqual([]);
    expect(await bed.list()).toEqual([]);
  };
  const forget = async () => {
    await bed.takeUsage();
    await bed.database.query('DELETE FROM mails');
  };

  it('is sent and counted for the operator where it looks like phishing', async () => {
    await bed.takeEvents();
    const html = 'Your PayPal account has been limited. Verify your identity.';
    for (const mail of [hello, { ...hello, html }, { ...hello, html: `${html} Now!` }])
      expect((await bed.send(mail)).status).toBe(200);
    const ids = (await bed.list()).slice(0, 2).map(({ id }) => id);
    await bed.service.reportFindings();
    const signs = ['brand', 'credentials', 'pressure'];
    const seen = { kind: 'mailWords', subject: '', signs, calls: 2, examples: ids };
    expect(await bed.take('finding.seen')).toEqual([
      { projectNumber: testProject.number, seen: [seen] },
    ]);
    await forget();
  });

  it('stores a mail and its price together, for any caller', async () => {
    const answer = await bed.send(hello);
    expect(answer).toMatchObject({ status: 200, body: { ok: true as const } });
    expect(answer.headers.get('x-backlot-usage')).toBe('1000');
    expect(await bed.takeUsage()).toEqual([
      {
        callId,
        caller: 'visitor',
        address: '192.0.2.1',
        projectId: testProject.id,
        projectNumber: testProject.number,
        ownerId: testProject.ownerId,
        route: 'sendEmail',
        millicredits: creditMillicredits,
        units: { recipients: 1 },
        occurredAt: new Date(bed.clock.now()).toISOString(),
      },
    ]);
    expect(await bed.list()).toEqual([
      {
        id: expect.any(String),
        to: [hello.to],
        subject: hello.subject,
        html: hello.html,
        from: '"Test project" <no-reply@backlot.test>',
        status: 'queued',
        createdAt: new Date(bed.clock.now()).toISOString(),
      },
    ]);
    for (const identity of [asUser('018f0000-0000-7000-8000-000000000001'), asOwner(), asKey()]) {
      const free = await bed.send(hello, { identity });
      expect(free.status).toBe(200);
      expect(free.headers.get('x-backlot-usage')).toBeNull();
    }
    expect(await bed.takeUsage()).toEqual([]);
    await forget();
  });

  it('asks a credit for each recipient, however often each is named', async () => {
    const to = ['ada@example.org', ' ADA@example.org', 'bob@example.org', 'Ada@Example.org '];
    expect((await bed.send({ ...hello, to })).headers.get('x-backlot-usage')).toBe('2000');
    expect((await bed.list())[0]?.to).toEqual(['ada@example.org', 'bob@example.org']);
    expect(await bed.takeUsage()).toMatchObject([{ millicredits: 2000, units: { recipients: 2 } }]);
    await forget();
  });

  it('counts those in copy as it does the others, and keeps where answers go', async () => {
    const body = {
      ...hello,
      to: ['ada@example.org', 'bob@example.org'],
      cc: ['ADA@example.org', 'carol@example.org', 'Carol@example.org'],
      replyTo: ' visitor@example.org ',
    };
    expect((await bed.send(body)).headers.get('x-backlot-usage')).toBe('3000');
    expect(await bed.list()).toMatchObject([
      { to: body.to, cc: ['carol@example.org'], replyTo: 'visitor@example.org' },
    ]);
    expect(await bed.takeUsage()).toMatchObject([{ units: { recipients: 3 } }]);
    await forget();
    expect(await bed.send(body, { identity: reserved(2000) })).toMatchObject({ status: 402 });
    await nothingStored();
    expect((await bed.send({ ...hello, cc: hello.to })).headers.get('x-backlot-usage')).toBe(
      '1000',
    );
    expect((await bed.list())[0]).not.toHaveProperty('cc');
    await forget();
  });

  it('counts those in blind copy too, and shows them to the owner', async () => {
    const body = { ...hello, cc: 'bob@example.org', bcc: ['Bob@example.org', 'carol@example.org'] };
    expect((await bed.send(body)).headers.get('x-backlot-usage')).toBe('3000');
    expect(await bed.list()).toMatchObject([
      { to: ['ada@example.org'], cc: ['bob@example.org'], bcc: ['carol@example.org'] },
    ]);
    await forget();
  });

  it('reserves for everybody whom a mail may reach', () => {
    const { price } = emailRoutes.sendEmail;
    const worst = (body: unknown) => price.worstCase({ body } as never);
    expect(
      [hello, { ...hello, cc: 'b@example.org' }, { ...hello, to: 'owner' }].map(worst),
    ).toEqual([1, 2, 1]);
    expect(worst({ to: Array(9).fill('a@b.c'), cc: Array(9).fill('a@b.c') })).toBe(10);
    expect(worst({ to: 'a@b.c', cc: ['a@b.c'], bcc: ['b@b.c', 'c@b.c'] })).toBe(4);
    expect([undefined, null, 'x', {}, { to: null }].map(worst)).toEqual([1, 1, 1, 1, 1]);
  });

  it('charges the price that was in force when the call was admitted', async () => {
    const reservation = { callId, millicredits: 10_000, millicreditsPerUnit: 2500 };
    const to = ['ada@example.org', 'bob@example.org'];
    const answer = await bed.send({ ...hello, to }, { identity: anonymous({ reservation }) });
    expect(answer.headers.get('x-backlot-usage')).toBe('5000');
    expect(await bed.takeUsage()).toMatchObject([{ millicredits: 5000, units: { recipients: 2 } }]);
    await forget();
  });

  it('refuses, and stores nothing, where fewer credits are left than recipients', async () => {
    const to = ['a@example.org', 'b@example.org', 'c@example.org'];
    expect(await bed.send({ ...hello, to }, { identity: reserved(2000) })).toMatchObject({
      status: 402,
      body: { code: 'out_of_credits' },
    });
    await nothingStored();
    expect((await bed.send({ ...hello, to }, { identity: reserved(3000) })).status).toBe(200);
    await forget();
  });

  it('sends one mail for one Idempotency-Key, in parallel too', async () => {
    const headers = { 'idempotency-key': 'once' };
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => bed.send(hello, { headers })),
    );
    for (const { status } of answers) expect([200, 409]).toContain(status);
    expect(await bed.takeUsage()).toHaveLength(1);
    expect(await bed.list()).toHaveLength(1);
    await forget();
  });

  it('takes addresses of every script', async () => {
    const to = [
      'jösé@example.org',
      'почта@пример.рф',
      '用户@例子.广告',
      'a+b@xn--bcher-kva.example',
      "o'neil!#$%&*+-/=?^_`{|}~@sub.example.org",
      'आदमी@उदाहरण.भारत',
    ];
    expect(await bed.send({ ...hello, to })).toMatchObject({ status: 200 });
    expect((await bed.list())[0]?.to).toEqual(to);
    await forget();
  });

  it('takes 10 recipients, a subject of 200 characters and 256 KB of HTML', async () => {
    const to = Array.from({ length: 10 }, (_, index) => `person${index}@example.org`);
    const body = { to, subject: 'é'.repeat(200), html: 'x'.repeat(256 * 1024) };
    expect((await bed.send(body)).status).toBe(200);
    await forget();
  });

  const many = (count: number) => Array.from({ length: count }, (_, n) => `p${n}@example.org`);
  it.each([
    ['to', { ...hello, to: undefined }],
    ['to', { ...hello, to: [] }],
    ['to', { ...hello, to: many(11) }],
    ['to', { ...hello, to: 5 }],
    ['to', { ...hello, to: '' }],
    ['to', { ...hello, to: 'nobody' }],
    ['to', { ...hello, to: 'Ada <ada@example.org>' }],
    ['to', { ...hello, to: 'ada@example.org, bob@example.org' }],
    ['to', { ...hello, to: 'ada@example.org\r\nBcc: bob@example.org' }],
    ['to', { ...hello, to: 'ada\r\n@example.org' }],
    ['to', { ...hello, to: 'ada@example.org\u0000' }],
    ['to', { ...hello, to: 'ada@localhost' }],
    ['to', { ...hello, to: 'ada@127.0.0.1' }],
    ['to', { ...hello, to: 'ada@[127.0.0.1]' }],
    ['to', { ...hello, to: 'a..b@example.org' }],
    ['to', { ...hello, to: '.a@example.org' }],
    ['to', { ...hello, to: 'ada@-example.org' }],
    ['to', { ...hello, to: 'ada@exam\u202eple.org' }],
    ['to', { ...hello, to: `${'ö'.repeat(33)}@example.org` }],
    ['to', { ...hello, to: `a@${'b'.repeat(60)}.${'c.'.repeat(100)}org` }],
    ['to.7', { ...hello, to: [...many(7), 'bad', 'worse@', '@worst'] }],
    ['cc', { ...hello, cc: [] }],
    ['cc', { ...hello, cc: 'owner' }],
    ['cc', { ...hello, cc: 'bob@example.org\r\nBcc: eve@example.org' }],
    ['to', { ...hello, to: many(6), cc: many(5) }],
    ['cc', { ...hello, to: 'owner', cc: 'bob@example.org' }],
    ['cc.1', { ...hello, cc: ['bob@example.org', 'Eve <eve@example.org>'] }],
    ['replyTo', { ...hello, replyTo: '' }],
    ['replyTo', { ...hello, replyTo: 'owner' }],
    ['replyTo', { ...hello, replyTo: ['bob@example.org'] }],
    ['bcc', { ...hello, bcc: [] }],
    ['bcc', { ...hello, bcc: 'bob@example.org\r\nX: eve@example.org' }],
    ['bcc', { ...hello, to: 'owner', bcc: 'bob@example.org' }],
    ['to', { ...hello, to: many(4), cc: many(4), bcc: many(3) }],
    ['replyTo', { ...hello, replyTo: 'bob@example.org\r\nBcc: eve@example.org' }],
    ['replyTo', { ...hello, replyTo: 'bob@example.org, eve@example.org' }],
    ['subject', { ...hello, subject: '' }],
    ['subject', { ...hello, subject: 'x'.repeat(201) }],
    ['subject', { ...hello, subject: 'Hi\r\nBcc: eve@example.org' }],
    ['subject', { ...hello, subject: 'Hi\nthere' }],
    ['subject', { ...hello, subject: 'Hi\u2028there' }],
    ['subject', { ...hello, subject: '\u0000' }],
    ['subject', { ...hello, subject: '\ud800' }],
    ['html', { ...hello, html: '' }],
    ['html', { ...hello, html: 5 }],
    ['html', { ...hello, html: 'é'.repeat(128 * 1024 + 1) }],
  ])('answers 400 that names %s, and stores nothing', async (field, body) => {
    const answer = await bed.send(body);
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_body' } });
    expect(answer.body.error).toContain(`"${field}"`);
    await nothingStored();
  });

  it('refuses more mails of a project than may wait', async () => {
    const small = await createTestBed({ beside: bed, config: { maxWaitingPerProject: 2 } });
    for (const status of [200, 200, 503]) {
      expect((await small.send(hello)).status).toBe(status);
    }
    const refused = await small.send(hello);
    expect(refused.body.code).toBe('overloaded');
    expect(refused.headers.get('retry-after')).toBe('60');
    expect(await small.takeUsage()).toHaveLength(2);
    await small.service.deliver();
    expect((await small.send(hello)).status).toBe(200);
    await small.close();
    await forget();
  });

  it('never fails on our side, and charges for what is stored alone, whatever is sent', async () => {
    const anyJson = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.string({ unit: 'binary' }));
    const address = fc.oneof(fc.emailAddress(), fc.string({ unit: 'binary' }), anyJson);
    const body = fc.oneof(
      anyJson,
      fc.record(
        {
          to: fc.oneof(address, fc.array(address, { maxLength: 12 }), fc.constant(hello.to)),
          cc: address,
          replyTo: address,
          subject: fc.oneof(anyJson, fc.constant(hello.subject)),
          html: fc.oneof(anyJson, fc.constant(hello.html)),
        },
        { requiredKeys: [] },
      ),
    );
    await fc.assert(
      fc.asyncProperty(body, async (value) => {
        const answer = await bed.send(JSON.stringify(value));
        expect([200, 400]).toContain(answer.status);
        expect(await bed.takeUsage()).toHaveLength(answer.status === 200 ? 1 : 0);
        const request = {
          body: JSON.parse(JSON.stringify(value)),
          contentLength: undefined,
          header: () => undefined,
          settings: {},
        };
        const price = costBounds(emailRoutes.sendEmail.price, request, 1000).maxMillicredits;
        expect(price).toBeGreaterThanOrEqual(1000);
        expect(price).toBeLessThanOrEqual(10_000);
        const used = Number(answer.headers.get('x-backlot-usage') ?? 0);
        expect(used).toBeLessThanOrEqual(price);
      }),
      { numRuns: 150 },
    );
    await bed.service.deliver();
    expect((await bed.list('?limit=1000')).every(({ status }) => status === 'captured')).toBe(true);
  });
});
