/** Credits are counted in thousandths. */
export const creditMillicredits = 1000;

/**
 * What a priced call costs: each unit of what it used takes `millicreditsPerUnit`. The worst case is
 * reserved, then settled to what was used.
 */
export interface Price {
  /** Names the price: usage is booked under it, and the operator's settings change it by it. */
  operationId: string;
  /** What is counted. */
  quantity: 'tokens' | 'recipients' | 'bytes';
  /** So many of them are one unit. */
  unitSize: number;
  /** A started unit counts as a whole one. */
  chargesStartedUnits: boolean;
  /** Unless the operator has set another. */
  millicreditsPerUnit: number;
  /** A call that used anything pays for so many units at least. */
  minimumUnits: number;
  /** A call that was served pays those even where it used none: an empty file is a file. */
  chargesNone?: true;
  /** The worst case is read from the body, so the gateway has to read it. */
  needsBody: boolean;
  /** The most that the call can use, in `quantity`. */
  worstCase(request: PricedRequest): number;
  /** Whether the call costs anything; every call does without it. */
  appliesTo?(request: PricedRequest): boolean;
  /**
   * When the caller goes, the service is told and ends its work, and records what was used until then.
   * Otherwise a priced call is heard to its end.
   */
  endsWithCaller?: true;
}

export interface PricedRequest {
  /** Parsed JSON that nobody has validated yet. */
  body: unknown;
  contentLength: number | undefined;
  /** A request header by its lower-case name. */
  header(name: string): string | undefined;
  /** The project's. */
  settings: { maxUploadBytes?: number };
}

/** A price without how its worst case is found. */
export type Tariff = Omit<Price, 'needsBody' | 'worstCase' | 'appliesTo' | 'endsWithCaller'>;

/** Milli-credits per unit that the operator has set, by the price's operationId. */
export type PriceChanges = Readonly<Record<string, number>>;

export const priceInForce = (price: Tariff, changes: PriceChanges): number =>
  changes[price.operationId] ?? price.millicreditsPerUnit;

/** What callers are told of a price. */
export const priceTerms = (price: Tariff, changes: PriceChanges) => {
  const { quantity, unitSize, chargesStartedUnits, minimumUnits } = price;
  const millicreditsPerUnit = priceInForce(price, changes);
  const minimumMillicredits = minimumUnits * millicreditsPerUnit;
  return { quantity, unitSize, chargesStartedUnits, millicreditsPerUnit, minimumMillicredits };
};

/** Nothing used costs nothing, unless the tariff charges for it. @param millicreditsPerUnit the price in force */
export const costMillicredits = (
  { unitSize, minimumUnits, chargesStartedUnits, chargesNone }: Tariff,
  used: number,
  millicreditsPerUnit: number,
): number => {
  if (used <= 0 && !chargesNone) return 0;
  const cost = chargesStartedUnits
    ? Math.ceil(used / unitSize) * millicreditsPerUnit
    : Math.ceil((used * millicreditsPerUnit) / unitSize);
  return Math.max(cost, minimumUnits * millicreditsPerUnit);
};

/** The most that can be used for so many milli-credits. */
export const affordableQuantity = (
  { unitSize, minimumUnits, chargesStartedUnits }: Tariff,
  millicredits: number,
  millicreditsPerUnit: number,
): number => {
  if (millicreditsPerUnit === 0) return Number.POSITIVE_INFINITY;
  if (millicredits < minimumUnits * millicreditsPerUnit) return 0;
  return chargesStartedUnits
    ? Math.floor(millicredits / millicreditsPerUnit) * unitSize
    : Math.floor((millicredits * unitSize) / millicreditsPerUnit);
};

/** What a call needs to be served at all, and the most that it can cost. */
export const costBounds = (price: Price, request: PricedRequest, millicreditsPerUnit: number) => {
  const minimum = price.minimumUnits * millicreditsPerUnit;
  const worstCase = costMillicredits(price, price.worstCase(request), millicreditsPerUnit);
  return { minMillicredits: minimum, maxMillicredits: Math.max(minimum, worstCase) };
};
