/**
 * Jest runs tests in a realm of their own, where errors thrown by Node itself (by fs, net, fetch)
 * are no `instanceof Error`, although they are in production. This makes the realms agree: an
 * error counts as an instance of the built-in class of the same name in either realm.
 */
const builtIns = [Error, TypeError, RangeError, SyntaxError, AggregateError];

for (const builtIn of builtIns) {
  Object.defineProperty(builtIn, Symbol.hasInstance, {
    value(this: unknown, value: unknown): boolean {
      // Classes that extend a built-in one inherit this and judge as ever.
      if (this !== builtIn) return Function.prototype[Symbol.hasInstance].call(this, value);
      return findBuiltIns(value).includes(builtIn.name);
    },
  });
}

function findBuiltIns(value: unknown): string[] {
  const names: string[] = [];
  let link = typeof value === 'object' && value !== null ? Object.getPrototypeOf(value) : null;
  while (link !== null) {
    if (Object.hasOwn(link, 'constructor')) names.push(String(link.constructor.name));
    link = Object.getPrototypeOf(link);
  }
  return names;
}
