import { rootKey } from '@penstock/converter'
import { type Signal, signalNames } from '@penstock/otlp'

/** Where ids are of: everything learnt is learnt within it. */
export interface Realm {
  readonly scope: string
  readonly instance: string
}

/** Scopes have no blanks, so that no two pipelines have the same. */
export const pipelineKey = ({ scope, instance }: Realm, id: bigint): string => `${scope} ${rootKey(instance, id)}`

/** Of any of these keys. */
export const scopeOfKey = (key: string): string => key.slice(0, key.indexOf(' '))

/** The key of a record, and of its deliveries with the signal behind. `round`: 1 for the first export of its pipeline. */
export const recordKey = (pipeline: string, round: number): string => (round === 1 ? pipeline : `${pipeline} #${round}`)

export const deliveryKey = (record: string, signal: Signal): string => `${record} ${signal}`

export function readDeliveryKey(key: string): { record: string; signal: Signal } {
  const at = key.lastIndexOf(' ')
  return { record: key.slice(0, at), signal: key.slice(at + 1) as Signal }
}

/** Of all that goes to one destination with one credential, each signal by itself. */
export const laneOf = (signal: Signal, destination: string): string => `${signal} ${destination}`

export const signalOfLane = (lane: string): string => lane.slice(0, lane.indexOf(' '))

/** As the plan of the export had it. */
export const destinationOfLane = (lane: string): string => lane.slice(lane.indexOf(' ') + 1)

/** What a delivery is about. */
export interface ExportKey extends Realm {
  readonly pipelineId: string
  /** 1, and more for exports of later completions. */
  readonly round: number
  readonly signal: string
}

const form = new RegExp(`^(\\S+) (.*) (\\d+)(?: #(\\d+))? (${signalNames.join('|')})$`, 's')

/** The key of a delivery taken apart, for people; `undefined` of a text that is none. */
export function parseExportKey(key: string): ExportKey | undefined {
  const [, scope, instance, pipelineId, round = '1', signal] = form.exec(key) ?? []
  if (scope === undefined) return undefined
  return { scope, instance: instance!, pipelineId: pipelineId!, round: Number(round), signal: signal! }
}
