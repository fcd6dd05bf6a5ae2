/** Names of fields whose numbers are money. */
const moneyName =
  /(^|[a-z_-])(amount|price|total|salary|wage|balance|income|revenue|cost|fee|budget)s?($|[A-Z_-])/i;
/** `€ 12.50`, `12,50 EUR`, `USD 1,200`. */
const moneyText =
  /^[€$£¥]\s?-?\d[\d., ]{0,20}$|^-?\d[\d., ]{0,20}\s?([€$£¥]|[A-Z]{3})$|^[A-Z]{3}\s?-?\d[\d., ]{0,20}$/;

/** Whether a field's value looks like an amount of money. */
export const isAmount = (field: string, value: unknown): boolean =>
  (typeof value === 'number' && moneyName.test(field)) ||
  (typeof value === 'string' && value.length <= 40 && moneyText.test(value.trim()));
