/** The first version of each kind of model that checks what stands before its thinking. */
const FIRST_BOUND: Readonly<Record<string, number>> = {
  fable: 5.1,
  haiku: 5.5,
  // It records the prefix and does not check it.
  mythos: Number.POSITIVE_INFINITY,
  opus: 5.5,
  sonnet: 5.5,
}

/** Whether a model checks what stands before its thinking, by its name. A name that does not tell counts as one that does. */
export function bindsThinking(model: string): boolean {
  if (/claude-(?:\d|instant)/i.test(model)) return false
  const [, kind = '', major, minor = '0'] =
    /claude-([a-z]+)-(\d+)(?:[-.](\d)(?!\d))?/i.exec(model) ?? []
  const first = Object.hasOwn(FIRST_BOUND, kind) ? (FIRST_BOUND[kind] ?? 0) : 0
  return major === undefined || Number(`${major}.${minor}`) >= first
}
