import type { ContentPart } from './history-item.ts'

/** What the parts of a message say in words; media are left out. */
export function spokenText(parts: readonly ContentPart[]): string {
  let text = ''
  for (const part of parts) if (part.type === 'text') text += part.text
  return text
}
