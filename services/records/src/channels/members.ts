import { type ChannelPresence, recordRoutes } from '@backlot/contract';

/** As far as a process knows; past them nobody new is taken in. */
const bounds = { project: 1000, process: 5000, all: 50_000 };
/** A process that is not heard of for so long is gone, and with it who was there by it. */
const believedMs = 16_000;

const toKey = ({ id, channel }: Pick<ChannelPresence, 'id' | 'channel'>) => `${id} ${channel}`;

export type MemberChange = 'join' | 'update' | 'leave';
export type OnMember = (projectNumber: number, type: MemberChange, member: ChannelPresence) => void;

interface OfProject {
  version: number;
  members: Map<string, ChannelPresence>;
}

/** Who is there, by the process whose streams say so. @param now milliseconds that only go forward */
export class Members {
  readonly #processes = new Map<string, { heardAt: number; projects: Map<number, OfProject> }>();
  readonly #channels = new Map<string, Map<string, ChannelPresence>>();
  readonly #now: () => number;
  readonly #onMember: OnMember;
  #count = 0;

  constructor(now: () => number, onMember: OnMember) {
    this.#now = now;
    this.#onMember = onMember;
  }

  in(projectNumber: number, channel: string): ChannelPresence[] {
    const { maxChannelMembers } = recordRoutes;
    const all = this.#channels.get(`${projectNumber} ${channel}`)?.values() ?? [];
    return [...all].slice(0, maxChannelMembers + 1);
  }

  /** Whether one more may be there by this process. */
  hasRoom(process: string, projectNumber: number, channel: string): boolean {
    const { projects } = this.#of(process);
    const inProcess = [...projects.values()].reduce((sum, { members }) => sum + members.size, 0);
    return (
      this.in(projectNumber, channel).length < recordRoutes.maxChannelMembers &&
      (projects.get(projectNumber)?.members.size ?? 0) < bounds.project &&
      inProcess < bounds.process
    );
  }

  has(process: string, projectNumber: number, member: Pick<ChannelPresence, 'id' | 'channel'>) {
    return this.find(process, projectNumber)?.members.has(toKey(member)) === true;
  }

  find(process: string, projectNumber: number): OfProject | undefined {
    return this.#processes.get(process)?.projects.get(projectNumber);
  }

  /** Of each project of the process. */
  versions(process: string): [number, number][] {
    return [...this.#of(process).projects].map(([number, { version }]) => [number, version]);
  }

  put(process: string, projectNumber: number, member: ChannelPresence): void {
    const { members } = this.#ofProject(process, projectNumber);
    const key = toKey(member);
    const isKnown = members.has(key);
    if (!isKnown && (this.#count >= bounds.all || members.size >= bounds.project)) return;
    if (!isKnown) this.#count++;
    members.set(key, member);
    const at = `${projectNumber} ${member.channel}`;
    const channel = this.#channels.get(at) ?? new Map<string, ChannelPresence>();
    this.#channels.set(at, channel.set(key, member));
    this.#onMember(projectNumber, isKnown ? 'update' : 'join', member);
  }

  drop(
    process: string,
    projectNumber: number,
    gone: Pick<ChannelPresence, 'id' | 'channel'>,
  ): void {
    const members = this.find(process, projectNumber)?.members;
    const key = toKey(gone);
    const member = members?.get(key);
    if (!member) return;
    members?.delete(key);
    this.#count--;
    const at = `${projectNumber} ${gone.channel}`;
    const channel = this.#channels.get(at);
    channel?.delete(key);
    if (channel?.size === 0) this.#channels.delete(at);
    this.#onMember(projectNumber, 'leave', member);
  }

  setVersion(process: string, projectNumber: number, version: number): void {
    this.#ofProject(process, projectNumber).version = version;
  }

  /** Makes it as the process says. */
  replace(
    process: string,
    projectNumber: number,
    version: number,
    here: readonly ChannelPresence[],
  ): void {
    const keys = new Set(here.map(toKey));
    for (const [key, member] of [...this.#ofProject(process, projectNumber).members])
      if (!keys.has(key)) this.drop(process, projectNumber, member);
    for (const member of here) this.put(process, projectNumber, member);
    this.setVersion(process, projectNumber, version);
  }

  /** The process lives. Answers whether it was unknown. */
  heard(process: string): boolean {
    const isNew = !this.#processes.has(process);
    this.#of(process).heardAt = this.#now();
    return isNew;
  }

  hasOthers(process: string): boolean {
    return this.#processes.size > (this.#processes.has(process) ? 1 : 0);
  }

  forgetProject(process: string, projectNumber: number): void {
    const projects = this.#processes.get(process)?.projects;
    for (const member of [...(projects?.get(projectNumber)?.members.values() ?? [])])
      this.drop(process, projectNumber, member);
    projects?.delete(projectNumber);
  }

  /** Forgets those that were not heard of. @param own the process that never is */
  forgetSilent(own: string): void {
    for (const [process, { heardAt, projects }] of this.#processes) {
      if (process === own || heardAt + believedMs > this.#now()) continue;
      for (const number of [...projects.keys()]) this.forgetProject(process, number);
      this.#processes.delete(process);
    }
  }

  #of(process: string) {
    const known = this.#processes.get(process);
    if (known) return known;
    const made = { heardAt: this.#now(), projects: new Map<number, OfProject>() };
    this.#processes.set(process, made);
    return made;
  }

  #ofProject(process: string, projectNumber: number): OfProject {
    const { projects } = this.#of(process);
    const known = projects.get(projectNumber);
    if (known) return known;
    const made = { version: 0, members: new Map<string, ChannelPresence>() };
    projects.set(projectNumber, made);
    return made;
  }
}
