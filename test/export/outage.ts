import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../collector/free-port.ts'
import type { Sink } from '../load/export/sink-process.ts'
import { processMemory } from '../load/gateway/process-memory.ts'
import { exportedProject, signals, startService } from './exporting-service.ts'
import { RecordIntakeLoad, type Way } from './kill-intake.ts'

export interface OutageOptions {
  readonly perSecond: number
  /** The number of records before the outage, and during a first short outage for comparison. */
  readonly before: number
  /** The number of records during the outage. The service is restarted in the middle. */
  readonly during: number
  readonly startSink: (port: number) => Promise<Sink>
}

export interface Phase {
  readonly p99Ms: Readonly<Record<Way, number>>
  readonly perSecond: number
  /** The highest sampled resident memory. */
  readonly residentMiB: number
}

export interface OutageResult {
  readonly up: Phase
  /** The phases before and after the restart of the service. */
  readonly down: readonly [Phase, Phase]
  /** The drains after each outage: the wait for the first export, and the rate from then on. */
  readonly drains: readonly { readonly records: number; readonly waitedSeconds: number; readonly perSecond: number }[]
  readonly drainResidentMiB: number
  readonly faults: readonly string[]
}

const SAMPLE_MS = 250
const POLL_MS = 20
const DEADLINE_MS = 15 * 60_000

/** Sends records at a fixed rate while the upstream is up, then during an outage, and then lets it come back. */
export async function outage({ perSecond, before, during, startSink }: OutageOptions): Promise<OutageResult> {
  const dataDir = mkdtempSync(join(tmpdir(), 'penstock-outage-'))
  const port = await freePort()
  const load = new RecordIntakeLoad()
  const faults: string[] = []
  let service = await startService(dataDir, `http://127.0.0.1:${port}`)
  try {
    const projectId = await exportedProject(service)
    const memory = new ResidentMemory(() => service.pid)
    const phase = async (until: number): Promise<Phase> => {
      load.latenciesMs = { put: [], hook: [] }
      memory.reset()
      const startMs = performance.now()
      await load.send(service, projectId, { perSecond, until })
      const seconds = (performance.now() - startMs) / 1_000
      return {
        p99Ms: { put: p99(load.latenciesMs.put), hook: p99(load.latenciesMs.hook) },
        perSecond: until / seconds,
        residentMiB: memory.mostMiB,
      }
    }
    /** The number of records that earlier drains have exported. */
    let exported = 0
    const drain = async (startedSink: Promise<Sink>) => {
      await using sink = await startedSink
      const startMs = performance.now()
      const records = load.acknowledged.size - exported
      exported = load.acknowledged.size
      const arrived = async (exports: number) => {
        for (;;) {
          const counts = await sink.counts()
          if (counts.exports >= exports) return counts
          if (performance.now() - startMs > DEADLINE_MS) {
            throw new Error(`${counts.exports} of ${records * signals.length} exports`)
          }
          await sleep(POLL_MS)
        }
      }
      const first = await arrived(1)
      const firstMs = performance.now()
      const { again, exports } = await arrived(records * signals.length)
      if (again > 0) faults.push(`${again} exports were accepted again`)
      if (exports > records * signals.length) faults.push(`${exports} exports of ${records} records`)
      return {
        records,
        waitedSeconds: (firstMs - startMs) / 1_000,
        perSecond: ((exports - first.exports) / signals.length / (performance.now() - firstMs)) * 1_000,
      }
    }

    const sinkBefore = await startSink(port)
    await phase(before / 4)
    const up = await phase(before)
    await drain(Promise.resolve(sinkBefore))
    await phase(before)
    const shortOutage = await drain(startSink(port))
    const first = await phase(during / 2)
    await service.end()
    service = await startService(dataDir, `http://127.0.0.1:${port}`)
    // A warm-up, because V8 compiles the code in the first seconds of a process.
    await phase(before / 4)
    const second = await phase(during / 2)
    memory.reset()
    const longOutage = await drain(startSink(port))
    faults.push(...load.faults)
    if (load.unanswered > 0) faults.push(`${load.unanswered} records were not answered`)
    const result = {
      up,
      down: [first, second] as const,
      drains: [shortOutage, longOutage],
      drainResidentMiB: memory.mostMiB,
      faults,
    }
    memory.end()
    await service.end()
    return result
  } finally {
    await service[Symbol.asyncDispose]()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

const p99 = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length * 0.99)]!

/** Samples the resident memory of a process. */
class ResidentMemory {
  mostMiB = 0
  readonly #timer: NodeJS.Timeout

  constructor(pid: () => number) {
    this.#timer = setInterval(() => {
      try {
        this.mostMiB = Math.max(this.mostMiB, processMemory(pid()).residentMiB)
      } catch {
        // There is no process during a restart.
      }
    }, SAMPLE_MS)
    this.#timer.unref()
  }

  reset(): void {
    this.mostMiB = 0
  }

  end(): void {
    clearInterval(this.#timer)
  }
}
