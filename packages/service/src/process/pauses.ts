const firstMs = 250;
/** Not longer: what has come back is to serve within seconds. */
const longestMs = 4000;

/** Pauses between tries to reach a server: each twice the one before, with chance in it, so that not all come at once. */
export function* pauses(random = Math.random): Generator<number, never> {
  for (let ms = firstMs; ; ms = Math.min(2 * ms, longestMs)) yield ms * (0.5 + random() / 2);
}
