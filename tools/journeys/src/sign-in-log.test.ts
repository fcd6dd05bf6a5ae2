import { createClient } from '@backlot/client';
import { until } from '@backlot/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  type PlatformUnderTest,
  platformUnderTest,
  settled,
  usualModes,
} from './platform-under-test.ts';

const password = 'a good long password';
const firefox =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:133.0) Gecko/20100101 Firefox/133.0';

interface Mail {
  to: string[];
  subject: string;
  text?: string;
}

describe.each(usualModes)('what users see of their sign-in, services reached %s', (mode) => {
  let platform: PlatformUnderTest;
  let project: Awaited<ReturnType<PlatformUnderTest['newProject']>>;
  beforeAll(async () => {
    platform = await platformUnderTest(mode, { BACKLOT_SIGN_UPS_PER_IP_PER_HOUR: '6' });
    project = await platform.newProject();
  }, 300_000);
  afterAll(() => platform?.stop());

  const clientWith = (userAgent?: string) => {
    let kept: string | null = null;
    return createClient(`${platform.url}/api/runtime/${project.id}`, {
      storage: {
        get: () => kept,
        set(token) {
          kept = token;
        },
      },
      ...(userAgent !== undefined && {
        fetch: (input, init) => {
          const headers = new Headers(init?.headers);
          headers.set('User-Agent', userAgent);
          return fetch(input, { ...init, headers });
        },
      }),
    });
  };
  const mailsTo = async (address: string): Promise<Mail[]> => {
    const path = `/projects/${project.id}/emails`;
    const { body } = await platform.control('GET', path, { token: platform.operatorToken });
    return body.items.filter(({ to }: Mail) => to.includes(address));
  };

  it('names device and network, tells of a new device by mail, and signs others out', async () => {
    const email = 'ada@example.org';
    const first = clientWith();
    const { id } = await first.auth.signUp({ email, password });
    const path = `/projects/${project.id}/users/${id}`;
    const verified = { token: platform.operatorToken, body: { emailVerified: true } };
    expect((await platform.control('PATCH', path, verified)).status).toBe(200);

    const second = clientWith(firefox);
    await second.auth.signIn({ email, password });
    const sessions = await first.auth.sessions();
    expect(sessions).toMatchObject([
      { device: 'Firefox on macOS', network: '127.0.0.0/24', method: 'password', isCurrent: false },
      { device: 'Node.js', method: 'sign-up', isCurrent: true },
    ]);
    const notice = await until(async () =>
      (await mailsTo(email)).find(({ subject }) => subject.startsWith('New sign-in')),
    );
    expect(notice).toBeDefined();

    await first.auth.endOtherSessions();
    await settled(async () => {
      const user = await second.auth.me();
      return { status: user === null ? 401 : 200, body: user } as never;
    }, 401);
    expect((await first.auth.events()).items.map(({ kind }) => kind)).toEqual([
      'signed_out',
      'signed_in',
      'signed_in',
    ]);
    const { token } = project.owner;
    const { body } = await platform.control('GET', `${path}/events`, { token });
    expect(body.items).toHaveLength(3);
  });

  it('asks an address that signs up much for work, which the client does by itself', async () => {
    for (let n = 0; n < 5; n++)
      await clientWith().auth.signUp({ email: `person${n}@example.com`, password });
    const seventh = clientWith().auth.signUp({ email: 'seventh@example.com', password });
    await expect(seventh).rejects.toMatchObject({ code: 'too_many_attempts' });
  });
});
