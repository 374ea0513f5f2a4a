import type { Log } from '@penstock/runtime'
import { ConfigError } from '../contract/config-error.ts'
import type { EnforcementMode } from '../contract/snapshot.ts'
import { type RandomBytes, randomBase62 } from '../secrets/token-format.ts'
import { type EnforcementRow, getEnforcement } from '../store/enforcement-store.ts'
import { isUnusedStore } from '../store/move-plane.ts'
import type { GatewayDb } from '../store/tables.ts'
import { PLANE_FILE, type PlaneRecord } from './plane-file.ts'

/** The facts that decide whether a new store is accepted. Read them before the store is opened or created. */
export interface PlaneEvidence {
  /** The content of plane.json, if it exists. */
  readonly recorded: PlaneRecord | undefined
  /** The name of the file of peppers or of their salt, if the data directory has one. */
  readonly pepperFile: string | undefined
  /** Whether the operator accepts another or an empty store. */
  readonly acceptsNewStore: boolean
}

interface Opening {
  /** The mode of a new store; if it is not set, the recorded mode, else `off`. */
  readonly initialMode: EnforcementMode | undefined
  readonly randomBytes: RandomBytes
  readonly log: Log
}

const PLANE_ID_LENGTH = 16
/** The modes, each stricter than those before it. */
const modes: readonly EnforcementMode[] = ['off', 'report', 'warn', 'enforce']

/**
 * Returns the id and the mode of the store. A store that has no id gets one; a new store also gets its first mode. A store that is older
 * than the record, because a backup was restored or its last changes are lost, gets the recorded mode if that is stricter.
 *
 * @param where the name of the store in messages
 * @throws ConfigError if the store is new or another one, although the data directory was used with a store before
 */
export async function identifyPlane(
  db: GatewayDb,
  where: string,
  evidence: PlaneEvidence,
  opening: Opening,
): Promise<PlaneRecord> {
  await requireOwnStore(db, where, evidence)
  const { recorded } = evidence
  const row = await getEnforcement(db.read)
  if (row.plane_id === null) return nameStore(db, evidence, opening)
  if (recorded?.id !== row.plane_id) return toPlaneRecord(row)
  if (recorded.mode === row.mode) return toPlaneRecord(row)
  const isOlder = row.epoch < recorded.epoch
  const keepsMode = isOlder && modes.indexOf(recorded.mode) > modes.indexOf(row.mode)
  const mode = keepsMode ? recorded.mode : row.mode
  opening.log.warn(
    { event: 'plane.mode_differs', stored: row.mode, recorded: recorded.mode, is_older: isOlder, mode },
    'the gateway store has another mode than this data directory was used with',
  )
  return keepsMode ? keepMode(db, recorded) : toPlaneRecord(row)
}

/**
 * Requires that the store is the one that the data directory was used with. Changes nothing.
 *
 * @param where the name of the store in messages
 * @throws ConfigError if the store is new or another one
 */
export async function requireOwnStore(
  db: Pick<GatewayDb, 'read'>,
  where: string,
  evidence: PlaneEvidence,
): Promise<void> {
  const { recorded, acceptsNewStore } = evidence
  const { plane_id } = await getEnforcement(db.read)
  if (plane_id === null) {
    if (await isUnusedStore(db)) requireNewStoreAccepted(where, evidence)
  } else if (recorded !== undefined && recorded.id !== plane_id && !acceptsNewStore) {
    throw new ConfigError(otherStore(where, recorded))
  }
}

async function nameStore(
  db: GatewayDb,
  { recorded }: PlaneEvidence,
  { initialMode, randomBytes }: Opening,
): Promise<PlaneRecord> {
  const isNew = await isUnusedStore(db)
  // An earlier version did not give its stores an id.
  const id = !isNew && recorded !== undefined ? recorded.id : randomBase62(PLANE_ID_LENGTH, randomBytes)
  const mode = isNew ? (initialMode ?? recorded?.mode ?? 'off') : undefined
  return db.write(async (tx) => {
    // Another process may have opened the new store in between.
    await tx
      .updateTable('enforcement')
      .set({ plane_id: id, ...(mode !== undefined && { mode }) })
      .where('plane_id', 'is', null)
      .execute()
    return toPlaneRecord(await getEnforcement(tx))
  })
}

function keepMode(db: GatewayDb, { mode, epoch }: PlaneRecord): Promise<PlaneRecord> {
  return db.write(async (tx) => {
    await tx
      .updateTable('enforcement')
      .set({ mode, grace_until_ms: null, epoch: epoch + 1 })
      .where('epoch', '<', epoch)
      .execute()
    return toPlaneRecord(await getEnforcement(tx))
  })
}

const toPlaneRecord = ({ plane_id, mode, epoch }: EnforcementRow): PlaneRecord => ({ id: plane_id!, mode, epoch })

/** @throws ConfigError if a new store means that the one the data directory was used with is lost */
export function requireNewStoreAccepted(where: string, { recorded, pepperFile, acceptsNewStore }: PlaneEvidence): void {
  const trace = recorded === undefined ? pepperFile : `${PLANE_FILE} (last mode: ${recorded.mode})`
  if (trace === undefined || acceptsNewStore) return
  throw new ConfigError(
    `${where} is missing or empty, but the data directory has ${trace}, so its tokens and its mode are lost: restore a backup, or run penstock serve --new-store to begin without them`,
  )
}

const otherStore = (where: string, { mode }: PlaneRecord): string =>
  `${where} belongs to another gateway than ${PLANE_FILE} of the data directory (last mode: ${mode}): use the right store, or run penstock serve --new-store to accept this one`
