const formats = new Map<string, Intl.NumberFormat>();

const formatFor = (currency: string): Intl.NumberFormat => {
  const known = formats.get(currency);
  if (known) return known;
  const format = new Intl.NumberFormat('en', { style: 'currency', currency });
  formats.set(currency, format);
  return format;
};

const digitsFor = (currency: string) =>
  formatFor(currency).resolvedOptions().maximumFractionDigits ?? 2;

/** "$19.99". @param amount in the currency's smallest unit @param currency ISO 4217 */
export const formatMoney = (amount: number, currency: string): string =>
  formatFor(currency).format(amount / 10 ** digitsFor(currency));

/** As it stands in a field: "19.99". */
export const toMoneyText = (amount: number, currency: string): string =>
  (amount / 10 ** digitsFor(currency)).toFixed(digitsFor(currency));

/** The smallest units of "19.99" or "19,99". @throws Error that says how it is written */
export const parseMoney = (text: string, currency: string): number => {
  const digits = digitsFor(currency);
  const [, whole = '', , part = ''] = /^\s*(\d{1,9})([.,](\d*))?\s*$/.exec(text) ?? [];
  if (whole === '' || part.length > digits)
    throw new Error(
      `An amount of ${currency.toUpperCase()} is written as ${toMoneyText(1999, currency)}.`,
    );
  return Number(whole) * 10 ** digits + Number(part.padEnd(digits, '0') || 0);
};
