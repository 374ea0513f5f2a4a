import { bearerRules } from '../forge/bearer-token.ts'
import type { Forge } from '../forge/forge.ts'
import { recordPayload } from './payload.ts'
import { readPenstockRecord } from './run.ts'

/** Penstock's own format, for systems without a reader of their own. */
export const penstock = {
  expected: 'a record of `penstock schema record`',
  bodies: [
    {
      kind: 'Penstock record',
      matches: ({ penstockRecord }) => penstockRecord !== undefined,
      read: (fields, receivedAtNs) => ({ kind: 'pipeline', record: readPenstockRecord(fields, receivedAtNs) }),
      payload: recordPayload,
    },
  ],
  nearMisses: [],
  otherHook: () => undefined,
  hooks: bearerRules,
} as const satisfies Forge
