import { readdir } from 'node:fs/promises';
import { rabbitmqDefinitions } from '@backlot/bus/rabbitmq-users';
import { events, eventTraffic, isAct, routes } from '@backlot/contract';
import { redisUsers } from '@backlot/counters/redis-users';
import { describe, expect, it } from '@jest/globals';
import { withRabbitmqUsers } from './generate.ts';
import { oldPasswordName } from './secrets.ts';
import { readCompose } from './testing/compose.ts';
import { fromRoot, readText } from './testing/files.ts';
import { render } from './testing/kustomize.ts';

type Processes = keyof typeof eventTraffic;
const processes = Object.keys(eventTraffic) as Processes[];

const definitions = (passwordIn: (setting: string) => string) =>
  rabbitmqDefinitions(
    processes.map((name) => ({
      name,
      password: passwordIn(`${name.toUpperCase()}_RABBITMQ_PASSWORD`),
      ...eventTraffic[name],
    })),
  );
const users = (passwordIn: (setting: string) => string) =>
  redisUsers(
    ['gateway', 'projects'].map((name) => ({
      name,
      password: passwordIn(`${name.toUpperCase()}_REDIS_PASSWORD`),
      countsCalls: name === 'gateway',
    })),
    passwordIn('REDIS_PASSWORD'),
  );
const linesIn = (text: string) => text.trimEnd().split('\n');

describe('the users of RabbitMQ and Redis', () => {
  it('in docker compose are those that the code says', async () => {
    const { services } = await readCompose();
    const setting = (name: string) => `\${${name}:?set it in .env}`;
    const settingOrOld = (name: string) => {
      const old = oldPasswordName(name);
      return `${setting(name)}${old === name ? '' : `\${${old}:+ >}\${${old}:-}`}`;
    };
    const text = (server: string, name: string) =>
      String(services[server]?.environment?.[name]).replaceAll('$$', '$');
    expect(JSON.parse(text('rabbitmq', 'DEFINITIONS'))).toEqual(definitions(setting));
    expect(linesIn(text('redis', 'USERS'))).toEqual(users(settingOrOld));
  });

  it('on Kubernetes are those that the code says', async () => {
    const manifests = await render(fromRoot('k8s/overlays/local'));
    const text = (name: string, variable: string) => {
      const found = manifests.find(
        ({ kind, metadata }) => kind === 'StatefulSet' && metadata.name === name,
      );
      if (!found) throw new Error(`There is no ${name}.`);
      const { template } = found.spec as {
        template: { spec: { initContainers: { env: { name: string; value?: string }[] }[] } };
      };
      const env = template.spec.initContainers[0]?.env ?? [];
      return env.find((each) => each.name === variable)?.value ?? '';
    };
    const written = await readText(fromRoot('k8s/overlays/local/rabbitmq.yaml'));
    expect(withRabbitmqUsers(written)).toBe(written);
    const setting = (name: string) => `$(${name})`;
    expect(JSON.parse(text('rabbitmq', 'DEFINITIONS'))).toEqual(definitions(setting));
    expect(linesIn(text('redis', 'USERS'))).toEqual(users(setting));
  });
});

describe.each(processes)('the events of %s', (name) => {
  const folder = fromRoot(name === 'gateway' ? 'gateway/src' : `services/${name}/src`);

  it('are those that its source names', async () => {
    const files = await readdir(folder, { recursive: true });
    const sources = files.filter((file) => /(?<!test)\.ts$/.test(file) && !/testing\//.test(file));
    const text = (await Promise.all(sources.map((file) => readText(`${folder}/${file}`)))).join();
    const named = Object.keys(events).filter((topic) => text.includes(`'${topic}'`));
    const charges = /\b(usageEvent|createRecordUsage)\b/.test(text) ? ['usage.recorded'] : [];
    const tells = /\bcreateTellApp\b/.test(text) ? ['app.event'] : [];
    const sees = /\bcreateNoteFindings\b/.test(text) ? ['finding.seen'] : [];
    const acts = routes.some((route) => route.service === name && isAct(route))
      ? ['platform.acted']
      : [];
    const { sends, hears } = eventTraffic[name];
    const all = [...named, ...charges, ...tells, ...sees, ...acts];
    expect(new Set([...sends, ...hears])).toEqual(new Set(all));
  });
});
