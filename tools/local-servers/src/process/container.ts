import { setTimeout as sleep } from 'node:timers/promises';
import type { StartedTestContainer } from 'testcontainers';

/** How to start one server in a container, again and again. */
export interface ContainerCommand {
  /** The server's name as people say it. */
  name: string;
  image: string;
  /** Of the container, and of the volume that holds its data. */
  container: string;
  hostname?: string;
  command?: string[];
  env: Record<string, string>;
  /** Contents of files in the container, by path. */
  files?: Record<string, string>;
  /** Where the server keeps its data; without it they go with the container. */
  dataPath?: string;
  /** Ports of 127.0.0.1 by those of the container. */
  ports: Record<number, number>;
  /** True once the server answers. */
  ready: () => Promise<boolean>;
}

export type KillSignal = 'SIGKILL' | 'SIGTERM';

const startTimeoutMs = 120_000;
const stopTimeoutSeconds = 30;

/** Loaded where a container is needed, and only there: it brings a client of Docker along. */
const testcontainers = () => import('testcontainers');

/** Whether Docker, or what speaks its language, answers. */
export const findContainerEngine = async (): Promise<boolean> => {
  const { getContainerRuntimeClient } = await testcontainers();
  return getContainerRuntimeClient().then(
    () => true,
    () => false,
  );
};

/** Starts the container; resolves when the server answers, throws with the end of its log. */
export const startContainer = async (command: ContainerCommand): Promise<StartedTestContainer> => {
  const { GenericContainer, Wait } = await testcontainers();
  /** Its ports are open to this machine alone. */
  class LocalContainer extends GenericContainer {
    protected override async beforeContainerCreated() {
      const bindings = Object.entries(command.ports).map(([port, hostPort]) => [
        `${port}/tcp`,
        [{ HostIp: '127.0.0.1', HostPort: String(hostPort) }],
      ]);
      this.hostConfig.PortBindings = Object.fromEntries(bindings);
    }
  }
  const ports = Object.entries(command.ports).map(([container, host]) => ({
    container: Number(container),
    host,
  }));
  const container = new LocalContainer(command.image)
    .withName(command.container)
    .withEnvironment(command.env)
    .withExposedPorts(...ports)
    // Servers of `pnpm dev` outlive a process that is killed; the next start ends what is left.
    .withAutoCleanup(false)
    .withWaitStrategy(Wait.forLogMessage(/.*/))
    .withStartupTimeout(startTimeoutMs);
  if (command.hostname !== undefined) container.withHostname(command.hostname);
  if (command.files !== undefined)
    container.withCopyContentToContainer(
      Object.entries(command.files).map(([target, content]) => ({ target, content })),
    );
  if (command.command !== undefined) container.withCommand(command.command);
  if (command.dataPath !== undefined)
    container.withBindMounts([{ source: command.container, target: command.dataPath }]);
  const started = await container.start();
  const deadline = Date.now() + startTimeoutMs;
  while (!(await command.ready())) {
    if (Date.now() > deadline) {
      await removeContainer(command.container, false);
      throw new Error(`${command.name} did not start within ${startTimeoutMs / 1000} s.`);
    }
    await sleep(50);
  }
  return started;
};

/** Ends it as a crash (SIGKILL) or in good order, and removes it; its volume stays. */
export const endContainer = (started: StartedTestContainer, signal: KillSignal): Promise<unknown> =>
  started.stop({ timeout: signal === 'SIGKILL' ? 0 : stopTimeoutSeconds * 1000 });

/** @param withData removes its volume too */
export const removeContainer = async (name: string, withData: boolean): Promise<void> => {
  const { getContainerRuntimeClient } = await testcontainers();
  const { dockerode } = (await getContainerRuntimeClient()).container;
  await dockerode
    .getContainer(name)
    .remove({ force: true })
    .catch(() => undefined);
  if (withData)
    await dockerode
      .getVolume(name)
      .remove()
      .catch(() => undefined);
};
