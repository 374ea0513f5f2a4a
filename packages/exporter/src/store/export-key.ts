import { parseRunId, type RunId, rootKey } from '@penstock/forges'
import { type Signal, signalNames } from '@penstock/otlp'

/** The namespace of pipeline ids: facts about a pipeline are stored per scope and instance. */
export interface PipelineNamespace {
  readonly scope: string
  readonly instance: string
}

/** Returns the key of a pipeline's row. It is unique because scopes contain no blanks. */
export const pipelineKey = ({ scope, instance }: PipelineNamespace, id: RunId): string =>
  `${scope} ${rootKey(instance, id)}`

/** Returns the scope that a pipeline, record or delivery key begins with. */
export const scopeOfKey = (key: string): string => key.slice(0, key.indexOf(' '))

/** Returns the key of a record. `round` is 1 for the first export of the pipeline. */
export const recordKey = (pipeline: string, round: number): string => (round === 1 ? pipeline : `${pipeline} #${round}`)

/** Returns the key of the pipeline that a record is about. */
export const toPipelineKey = (record: string): string => record.replace(/ #\d+$/, '')

/** Returns the key of a delivery: the key of its record and the signal. */
export const deliveryKey = (record: string, signal: Signal): string => `${record} ${signal}`

export function readDeliveryKey(key: string): { record: string; signal: Signal } {
  const at = key.lastIndexOf(' ')
  return { record: key.slice(0, at), signal: key.slice(at + 1) as Signal }
}

/** Returns the lane of all deliveries of one signal to one destination with one credential. */
export const toLane = (signal: Signal, destination: string): string => `${signal} ${destination}`

export const signalOfLane = (lane: string): string => lane.slice(0, lane.indexOf(' '))

/** Returns the destination of a lane, as it was when the export was planned. */
export const destinationOfLane = (lane: string): string => lane.slice(lane.indexOf(' ') + 1)

/** The parts of a delivery key. */
export interface ExportKey extends PipelineNamespace {
  readonly pipelineId: string
  /** 1 for the first export of the pipeline, higher for exports of later completions. */
  readonly round: number
  readonly signal: string
}

const keyPattern = new RegExp(`^(\\S+) (.*) (\\d+|~\\S+)(?: #(\\d+))? (${signalNames.join('|')})$`, 's')

/** Returns the parts of a delivery key; `undefined` if the text is not one. */
export function parseExportKey(key: string): ExportKey | undefined {
  const [, scope, instance, pipelineId, round = '1', signal] = keyPattern.exec(key) ?? []
  if (scope === undefined) return undefined
  return {
    scope,
    instance: instance!,
    pipelineId: String(parseRunId(pipelineId!)),
    round: Number(round),
    signal: signal!,
  }
}
