import { withNamedParts } from '@penstock/converter'
import type { IntakeRequest } from '../records/intake-request.ts'
import type { ReceivedBody } from '../records/received-body.ts'
import { type Source, sourceScope } from './sources.ts'

/**
 * Returns the request to take in a body of a source.
 *
 * @throws {RecordError} if neither the record nor the options of its source name the server and the repository
 */
export function sourceRequest(source: Source, body: ReceivedBody, receivedAtNs: bigint): IntakeRequest {
  const { signals, settleMs, options } = source
  if (body.input.kind === 'pipeline') {
    withNamedParts(body.input.record, { instanceId: options.instanceId, project: options.project })
  }
  const scope = sourceScope(source)
  return { scope, body, receivedAtNs, plan: async () => ({ signals, destination: scope }), settleMs }
}
