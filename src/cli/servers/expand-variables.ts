/** Fills in variables of the environment; `fail` says what is wrong with one. */
export type Expand = (text: string, fail: (rule: string) => Error) => string

const REFERENCE = /\$\{([^{}]*)\}/g
const NAME = /^(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s

/**
 * Fills in `${NAME}` and `${NAME:-default}`, as most programs with an `mcp.json` do. A default stands in for an empty
 * variable too.
 */
export function expandFrom(env: Readonly<Record<string, string | undefined>>): Expand {
  return (text, fail) =>
    text.replace(REFERENCE, (reference: string, inside: string) => {
      const [, name, otherwise] = NAME.exec(inside) ?? []
      if (name === undefined) {
        throw fail(`has \`${reference}\`, which is not known here: write \`\${NAME}\``)
      }
      const value = Object.hasOwn(env, name) ? env[name] : undefined
      const filled = otherwise === undefined ? value : value || otherwise
      if (filled !== undefined) return filled
      throw fail(`needs the variable \`${name}\`: set it, or write \`\${${name}:-default}\``)
    })
}
