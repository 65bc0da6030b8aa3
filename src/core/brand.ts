/**
 * Recognises instances across realms and across two installed copies of the package.
 *
 * A class carries, on its prototype, a method under `Symbol.for('bobbin/<Name>')` that answers whether
 * `this` really went through that class's constructor (a private field is there). Data cannot carry
 * symbols, a spread copy does not carry the prototype, and `Object.create(Class.prototype)` has no
 * private field, so none of them passes; `constructor.name` plays no part. Honest copies are what it
 * recognises: code in the same process can write such a method itself, and nothing could stop it.
 */
export function brandOf(name: string): symbol {
  let brand = brands.get(name)
  if (brand === undefined) {
    brand = Symbol.for(`bobbin/${name}`)
    brands.set(name, brand)
  }
  return brand
}

/** Building the key of the global registry anew costs more than the rest of a guard. */
const brands = new Map<string, symbol>()

type Constructor<T> = abstract new (...args: never) => T

/** True when `value` is an instance of the class branded `name`, from this or another copy of the package. */
export function isInstanceOf<T = unknown>(
  value: unknown,
  name: string,
  constructor?: Constructor<T>,
): value is T {
  const brand = brandOf(name)
  // A guard never throws: a proxy may answer any question with an error, a revoked one answers none.
  try {
    const isOne = answerOf(value, brand)
    if (isOne !== undefined || constructor === undefined) return isOne === true
    // A class that has the brand is judged by it alone: `instanceof` would accept a bare prototype.
    return !(brand in (constructor.prototype as object)) && value instanceof constructor
  } catch {
    return false
  }
}

/** The same for a class of our own, whose brand is at hand. */
export function isBranded(value: unknown, brand: symbol): boolean {
  try {
    return answerOf(value, brand) === true
  } catch {
    return false
  }
}

/** What a value says of itself; nothing when it was never told of the brand. */
function answerOf(value: unknown, brand: symbol): boolean | undefined {
  if (typeof value !== 'object' || value === null) return false
  const check = (value as Readonly<Record<symbol, unknown>>)[brand]
  return typeof check === 'function' ? Reflect.apply(check, value, []) === true : undefined
}
