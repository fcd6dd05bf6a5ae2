import type { masterKeySettings, sealStates } from '../routes/operators/sealed-secrets.ts';
import type { ServiceName } from '../services.ts';

/** An event that a service could not handle, and keeps for a person. */
export interface ParkedEvent {
  id: string;
  /** Whose it is: `<service>.<topic>`. */
  queue: string;
  /** Null where the message is no event. */
  topic: string | null;
  eventId: string | null;
  /** Public id, where the event says one. */
  projectId: string | null;
  error: string;
  /** ISO 8601; when it was given up last. */
  parkedAt: string;
}

export interface ParkedEventContent extends ParkedEvent {
  /** Without what opens something; the text of a message that is no JSON. */
  payload: unknown;
}

/** What a service has sealed under one master key. */
export interface SealedUnder {
  setting: (typeof masterKeySettings)[number];
  /** 16 hexadecimal digits, which say which key and nothing else of it; null where it is not known. */
  keyId: string | null;
  state: (typeof sealStates)[number];
  sealed: number;
}

/** Of what a service has sealed. */
export interface SealCounts {
  /** Under an older one of its master keys. */
  old: number;
  /** Under none of them. */
  lost: number;
  /** Those of its rings, and those that have sealed something. */
  keys: SealedUnder[];
}

export type ReplayOutcome = 'replayed' | 'gone' | 'busy' | 'no-event';

/** What the operator does in every service: each offers it under `<service>Operations`. */
export interface ServiceOperations {
  /** Newest first. @param before id of the last one that is known */
  listParked(asking: { limit: number; before?: string | undefined }): Promise<ParkedEvent[]>;
  showParked(id: string): Promise<ParkedEventContent | null>;
  replayParked(id: string): Promise<ReplayOutcome>;
  /** False where it is gone. */
  dropParked(id: string): Promise<boolean>;
  countSealed(): Promise<SealCounts>;
  /** For some seconds; the rest is for the next call. */
  reseal(): Promise<SealCounts & { resealed: number }>;
}

export type OperationsName = `${ServiceName}Operations`;
export type OperationsDirectories = Record<OperationsName, ServiceOperations>;
