import type { Row } from './cell-values.ts';

export interface PageRequest {
  /** From the other end of the list. */
  isReverse: boolean;
  cursor: string | undefined;
  limit: number;
  /** Only where the page ends is asked for. */
  isPassedOver: boolean;
}

export interface PageAnswer {
  items: Row[];
  nextCursor: string | null;
}

export interface PageSource {
  read(request: PageRequest, signal: AbortSignal): Promise<PageAnswer>;
  count(signal: AbortSignal): Promise<{ count: number; approximate?: true | undefined }>;
  /** Whether it can be read from its end too. */
  isReversible: boolean;
}
