/**
 * A constructor that gives back what it is given, so that a subclass puts its private fields there: a
 * mark that nobody else can see, forge or remove. A `WeakSet` would do too, but with a table that grows
 * and an entry for each object that the collector follows.
 */
export const Given = function (given: object) {
  return given
} as unknown as new (
  given: object,
) => object
