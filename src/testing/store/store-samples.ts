import { checksum } from '../../core/checksum.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { NewEntry } from '../../store/entry.ts'

const AT = '2026-01-02T03:04:05.000Z'

/** Entries as a runner makes them, for stores under test. */
export const storeSamples = {
  turnStart: (turnId: string): NewEntry => ({ kind: 'turn-start', turnId, data: {} }),

  turnEnd: (turnId: string): NewEntry => ({
    kind: 'turn-end',
    turnId,
    data: { status: 'completed' },
  }),

  message: (turnId: string, id: string, content = `message ${id}`): NewEntry => ({
    kind: 'message',
    turnId,
    data: {
      id,
      role: 'user',
      content,
      attachments: [],
      identity: { identifier: 'user', representation: 'user' },
      createdAt: AT,
      updatedAt: AT,
    },
  }),

  intent: (turnId: string, id: string, args: JsonObject = { n: 1 }, tool = 'add'): NewEntry => ({
    kind: 'intent',
    turnId,
    data: {
      id,
      tool,
      args,
      checksum: checksum(tool, args),
      effect: 'write',
      idempotencyKey: `key-${id}`,
      createdAt: AT,
    },
  }),

  settlement: (
    turnId: string,
    id: string,
    options: {
      readonly args?: JsonObject
      readonly tool?: string
      readonly results?: JsonObject | string
      readonly settlement?: 'ok' | 'in-doubt'
      readonly extra?: JsonObject
    } = {},
  ): NewEntry => {
    const { args = { n: 1 }, tool = 'add', results = 'done', settlement = 'ok', extra } = options
    return {
      kind: 'settlement',
      turnId,
      data: {
        id,
        tool,
        args,
        checksum: checksum(tool, args),
        results,
        isComplete: true,
        isError: settlement !== 'ok',
        settlement,
        executedBy: 'runner',
        inline: true,
        fromArtifactTool: false,
        trust: 'third-party',
        createdAt: AT,
        updatedAt: AT,
        completedAt: AT,
        ...extra,
      },
    }
  },

  gateOpened: (turnId: string, id: string, options: JsonObject = {}): NewEntry => ({
    kind: 'gate-opened',
    turnId,
    data: {
      id,
      kind: 'approval',
      from: 'runner',
      tool: 'add',
      args: { n: 1 },
      digest: 'd'.repeat(64),
      ...options,
    },
  }),

  gateClosed: (
    turnId: string,
    id: string,
    outcome: 'consumed' | 'expired' | 'abandoned',
  ): NewEntry => ({ kind: 'gate-closed', turnId, data: { id, outcome } }),

  note: (turnId: string, message: string): NewEntry => ({
    kind: 'note',
    turnId,
    data: { level: 'warning', code: 'test', message },
  }),

  /** A reference to an artifact, as records store it. */
  artifact: (sha256: string, byteLength: number): JsonObject => ({
    $artifact: { kind: 'text', sha256, byteLength, lineCount: 1 },
  }),
} as const
