/**
 * Recognises instances across realms and across two installed copies of the package.
 *
 * A class carries, on its prototype, a method under `Symbol.for('bobbin/<Name>')` that answers whether
 * `this` really went through that class's constructor (a private field is there). Data cannot carry
 * symbols, a spread copy does not carry the prototype, and `Object.create(Class.prototype)` has no
 * private field, so none of them passes; `constructor.name` plays no part. Honest copies are what it
 * recognises: code in the same process can write such a method itself, and nothing could stop it.
 *
 * The method's name is written as a call of this function: a constant would stand in the declarations, where it
 * says that the class has such a method under every symbol.
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
  if (typeof value !== 'object' || value === null) return false
  // A guard never throws: a proxy may answer any question with an error, a revoked one answers none.
  try {
    const check = (value as Readonly<Record<symbol, unknown>>)[brandOf(name)]
    if (typeof check === 'function') return Reflect.apply(check, value, []) === true
    return constructor !== undefined && !hasBrand(constructor, name) && value instanceof constructor
  } catch {
    return false
  }
}

/** A class that has the brand is judged by it alone: `instanceof` would accept a bare prototype. */
function hasBrand(constructor: Constructor<unknown>, name: string): boolean {
  return brandOf(name) in (constructor.prototype as object)
}
