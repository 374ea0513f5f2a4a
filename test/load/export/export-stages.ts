import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { convertChunks, resolveOptions } from '@penstock/converter'
import type { Db } from '@penstock/db'
import { DeliveryQueue, type DeliveryTables, Drain, HttpClient } from '@penstock/delivery'
import { defaultExportLimits, OtlpEndpoint, readBody } from '@penstock/exporter'
import { joinChunks, RequestEncoder } from '@penstock/otlp'
import { systemClock } from '@penstock/runtime'
import { signals } from '../../export/exporting-service.ts'
import { numberedPipeline } from '../../export/numbered-pipeline.ts'
import { eachOf, numbers, type OwnExporter, openExporter, received } from './exporter-stock.ts'
import { type Sink, startSink } from './sink-process.ts'

const PIPELINES = 5_120
const LOOK_AGAIN_MS = 2

/** The CPU time in microseconds for one record in all signals. */
export interface StageCosts {
  readonly intake: number
  readonly claimAndSettle: number
  readonly readAndConvert: number
  readonly send: number
  /** The figures of the whole exporter from a full queue to an empty one, and its records per second. */
  readonly exporter: number
  readonly exportedPerSecond: number
}

/** Measures each stage alone, and the stages after the intake together, in this process. The sink is another process. */
export async function stageCosts(): Promise<StageCosts> {
  await using sink = await startSink()
  const taken = await openExporter(sink.url)
  const intake = await cpuMicros(() =>
    eachOf(numbers(PIPELINES), 512, (number) => taken.exporter.intake.enqueueShared(received(number))),
  )
  const startMs = performance.now()
  const exporter = await cpuMicros(() => drained(taken, (signal) => taken.exporter.run(signal)))
  const exportedPerSecond = (PIPELINES * 1_000) / (performance.now() - startMs)
  await arrived(sink)
  const readAndConvert = await cpuMicros(() => readAndConvertAll(taken))
  await taken[Symbol.asyncDispose]()
  return {
    intake,
    claimAndSettle: await claimAndSettle(sink),
    readAndConvert,
    send: await send(sink),
    exporter,
    exportedPerSecond,
  }
}

async function arrived(sink: Sink): Promise<void> {
  const { exports, again } = await sink.counts()
  if (exports !== PIPELINES * signals.length || again > 0) throw new Error(`${exports} exports, ${again} again`)
}

/** Measures the claims and settlements of the queue if every delivery succeeds. */
async function claimAndSettle({ url }: Sink): Promise<number> {
  await using own = await openExporter(url)
  await eachOf(numbers(PIPELINES), 512, (number) => own.exporter.intake.enqueueShared(received(number)))
  const outcome = { kind: 'delivered', rejectedItems: 0, message: '' } as const
  const drain = new Drain({
    ...defaultExportLimits,
    queue: new DeliveryQueue(own.db as unknown as Db<DeliveryTables>, 'exports'),
    clock: systemClock,
    random: Math.random,
    newClaim: randomUUID,
    send: async (batch) => batch.map(() => ({ outcome, progress: '' })),
    onError: (error) => console.error(error),
  })
  return await cpuMicros(() => drained(own, (signal) => drain.run(signal)))
}

/** Reads and converts the records, as the exporter does for each delivery. */
async function readAndConvertAll({ db }: OwnExporter): Promise<void> {
  const options = resolveOptions()
  const encoder = new RequestEncoder('protobuf')
  for (const number of numbers(PIPELINES)) {
    for (const signal of signals) {
      const { body } = await db.read
        .selectFrom('export_records')
        .selectAll()
        .where('key', '=', `source:forge ci.example.com ${number}`)
        .executeTakeFirstOrThrow()
      const { input } = readBody(body)
      if (input.kind !== 'pipeline') throw new Error('no pipeline')
      const chunking = { signals: [signal], encoder, limits: defaultExportLimits.chunk }
      for (const _ of convertChunks(input.record, options, chunking));
    }
  }
}

/** Sends requests in batches of the same size as the exporter. */
async function send({ url }: Sink): Promise<number> {
  const client = new HttpClient()
  const endpoint = new OtlpEndpoint({ url, version: '0', client, clock: systemClock, random: Math.random })
  const options = resolveOptions()
  const encoder = new RequestEncoder('protobuf')
  const { batchSize, chunk: limits, concurrency } = defaultExportLimits
  const batches = signals.flatMap((signal) =>
    Array.from({ length: PIPELINES / batchSize }, (_, batch) =>
      Array.from({ length: batchSize }, (_, index) => {
        const { input } = readBody(numberedPipeline(1 + batch * batchSize + index))
        if (input.kind !== 'pipeline') throw new Error('no pipeline')
        return [...convertChunks(input.record, options, { signals: [signal], encoder, limits })]
      }).flat(),
    ),
  )
  const micros = await cpuMicros(() =>
    eachOf(batches, concurrency, async (chunks) => {
      const { outcome } = await endpoint.tryChunk(joinChunks(chunks))
      if (outcome.kind !== 'delivered') throw new Error(outcome.kind)
    }),
  )
  await client.close()
  return micros
}

async function drained({ exporter }: OwnExporter, run: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const stop = new AbortController()
  const running = run(stop.signal)
  while ((await exporter.queue.listOpenLanes({ limit: 1 })).length > 0) await sleep(LOOK_AGAIN_MS)
  stop.abort()
  await running
}

async function cpuMicros(work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / PIPELINES
}
