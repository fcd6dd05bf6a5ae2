import { toNetwork } from '@backlot/http';
import type { Identity } from '@backlot/identity';
import { nameDevice } from './device.ts';

/** Who does something, and from where. */
export type EventCaller = Pick<Identity, 'project' | 'ip' | 'userAgent'>;

export interface Place {
  device: string | null;
  /** Never the whole address. */
  network: string | null;
}

export const toPlace = ({ ip, userAgent }: Omit<EventCaller, 'project'>): Place => ({
  device: nameDevice(userAgent),
  network: toNetwork(ip),
});
