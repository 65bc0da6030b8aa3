/** The escape that the provider documents for calls that it did not sign itself. */
export const SKIP_SIGNATURE = 'skip_thought_signature_validator'

/** The generation of a model; undefined when its name is unknown or tells none. */
function generationOf(model: string | undefined): number | undefined {
  const name = model === undefined ? undefined : /gemini-(\d+)?/.exec(model)
  if (name === undefined || name === null) return undefined
  // Names without a number (`gemini-flash-latest`) always mean a recent one.
  return name[1] === undefined ? 3 : Number(name[1])
}

/** True for models that refuse a step whose first call is not signed. */
export function wantsSignatures(model: string | undefined): boolean {
  return (generationOf(model) ?? 0) >= 3
}

/** True for models that are known to take no media inside of a function response. */
export function isOldModel(model: string | undefined): boolean {
  return (generationOf(model) ?? 3) < 3
}

/** True for a model whose name says that Vertex AI serves it; a bare name fits both backends. */
export function isOnVertex(model: string | undefined): boolean {
  return model !== undefined && /^(?:projects|publishers)\//.test(model)
}

/** Signatures hold for one model; `models/gemini-2.5-flash-001` and `gemini-2.5-flash` are the same. */
export function familyOf(model: string): string {
  const name = model.split('/').at(-1) ?? model
  return name.replace(/-\d{3}$/, '')
}
