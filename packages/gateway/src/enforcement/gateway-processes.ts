import { rfc3339 } from '../contract/rfc3339.ts'
import type { OperationContext } from '../operations/operation-context.ts'
import { requireRole } from '../operations/roles.ts'
import { getEnforcement } from '../store/enforcement-store.ts'
import { type InstanceRow, isLive, listInstances } from '../store/instances.ts'
import type { GatewayDb } from '../store/tables.ts'

/** A process of a gateway that uses this store, as JSON. */
export interface GatewayProcessJson {
  /**
   * `gate-` or `api-`, the name of its host and a random part. An `api-` process receives no telemetry: it serves the API, and decides for
   * forward-auth proxies.
   */
  readonly id: string
  /** `following`: it applies every change. `behind`: it lacks some. `silent`: no sign of life for ten seconds. */
  readonly state: 'following' | 'behind' | 'silent'
  /** The epoch of tokens and enforcement that it applied at its last sign of life. */
  readonly epoch: number
  readonly seen_at: string
}

/** Returns the processes of all gateways that use this store, on all hosts, for the API. */
export async function listProcesses(context: OperationContext): Promise<readonly GatewayProcessJson[]> {
  requireRole(context.actor, 'listProcesses')
  return listGatewayProcesses(context.db, context.nowMs())
}

/** Returns the processes that have used this store within the last hour and did not end in order, by id. */
export async function listGatewayProcesses(
  db: Pick<GatewayDb, 'read'>,
  nowMs: number,
): Promise<readonly GatewayProcessJson[]> {
  const { epoch } = await getEnforcement(db.read)
  const instances = await listInstances(db)
  return instances.map((instance) => ({
    id: instance.id,
    state: stateOf(instance, epoch, nowMs),
    epoch: instance.epoch,
    seen_at: rfc3339(instance.seenAtMs),
  }))
}

function stateOf(instance: InstanceRow, epoch: number, nowMs: number): GatewayProcessJson['state'] {
  if (!isLive(instance, nowMs)) return 'silent'
  return instance.epoch >= epoch ? 'following' : 'behind'
}
