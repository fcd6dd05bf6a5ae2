import { ApiError } from '@backlot/contract';

/**
 * Where Stripe's smallest unit is not a hundredth (https://docs.stripe.com/currencies): the whole unit,
 * or a thousandth that has to end in 0. ISK and UGX have no hundredths, but are written with them.
 */
const zeroDecimal = new Set(
  'bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf'.split(' '),
);
const threeDecimal = new Set('bhd jod kwd omr tnd'.split(' '));
const wholeUnitsOnly = new Set(['isk', 'ugx']);

/** The test checkout takes the same, so that an app moves over unchanged. */
const supportedByStripe =
  `aed afn all amd ang aoa ars aud awg azn bam bbd bdt bgn bmd bnd bob brl bsd bwp byn bzd
  cad cdf chf cny cop crc cve czk dkk dop dzd egp etb eur fjd fkp gbp gel gip gmd gtq gyd hkd hnl htg
  huf idr ils inr isk jmd kes kgs khr kyd kzt lak lbp lkr lrd lsl mad mdl mkd mmk mnt mop mur mvr mwk
  mxn myr mzn nad ngn nio nok npr nzd pab pen pgk php pkr pln qar ron rsd rub sar sbd scr sek sgd shp
  sle sos srd szl thb tjs top try ttd twd tzs uah ugx usd uyu uzs wst xcd xcg yer zar zmw`.split(
    /\s+/,
  );

const known = new Set(Intl.supportedValuesOf('currency').map((code) => code.toLowerCase()));
export const currencies: ReadonlySet<string> = new Set(
  [...supportedByStripe, ...zeroDecimal, ...threeDecimal].filter((code) => known.has(code)),
);

const decimalPlaces = (currency: string): number => {
  if (zeroDecimal.has(currency)) return 0;
  return threeDecimal.has(currency) ? 3 : 2;
};

/** Amounts are multiples of it. */
const smallestStep = (currency: string): number => {
  if (wholeUnitsOnly.has(currency)) return 100;
  return threeDecimal.has(currency) ? 10 : 1;
};

/** @throws ApiError invalid_body that names the field of the currency or of the amount */
export const checkAmount = (
  currency: string,
  amount: number,
  field = 'amount',
  currencyField = 'currency',
): void => {
  if (!currencies.has(currency))
    throw new ApiError('invalid_body', `"${currencyField}": ${currency} can not be paid in.`);
  const step = smallestStep(currency);
  if (amount % step === 0) return;
  throw new ApiError('invalid_body', `"${field}" must be a multiple of ${step} in ${currency}.`);
};

/** @throws ApiError invalid_body that names the currency or the item */
export const checkMoney = (currency: string, items: readonly { amount: number }[]): void => {
  for (const [index, { amount }] of items.entries())
    checkAmount(currency, amount, `items.${index}.amount`);
};

/** For people, as `$19.99`. @param amount in the currency's smallest unit */
export const formatMoney = (amount: number, currency: string): string => {
  const decimals = decimalPlaces(currency);
  return new Intl.NumberFormat('en', {
    style: 'currency',
    currency,
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  }).format(amount / 10 ** decimals);
};
