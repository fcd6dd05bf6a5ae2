const stepsInMs = 1024;
let last = 0;

/**
 * A new UUIDv7, under which this client may make a record: `db('todos').replace(newId(), data, { upsert:
 * true })`. Later ones are greater, within a millisecond too.
 */
export const newId = (): string => {
  last = Math.max(Date.now() * stepsInMs, last + 1);
  const time = Math.floor(last / stepsInMs)
    .toString(16)
    .padStart(12, '0');
  const step = ((last % stepsInMs) * 4).toString(16).padStart(3, '0');
  const random = crypto.randomUUID().slice('xxxxxxxx-xxxx-xxxx-'.length);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${step}-${random}`;
};
