import { migrate, openReadOnly } from '@penstock/db'
import type { Encoding, Signal } from '@penstock/otlp'
import { type Clock, silentLog } from '@penstock/runtime'
import type { Delivery, Receipt } from './delivery.ts'
import type { StoredLogRecord } from './log-queries.ts'
import type { MetricName, StoredMetric } from './metric-queries.ts'
import { migrations } from './migrations.ts'
import type { Observe } from './observe.ts'
import { defaultObserveLimits, type ObserveLimits } from './observe-limits.ts'
import { type Answer, answerQuestion, type Question } from './questions.ts'
import type { ServiceSummary } from './service-queries.ts'
import type { ObserveStatus } from './status.ts'
import { openStoreFile, openStoreWriter, type StoreWriter } from './store-writer.ts'
import type { ObserveTables } from './tables.ts'
import type { StoredTrace, TraceSummary } from './trace-queries.ts'

type Query<About extends Question['about']> = Extract<Question, { about: About; query: unknown }>['query']

/** Returns a method for every question, which returns the parsed answer. */
export function questionsTo(answer: (question: Question) => Promise<Answer | undefined>) {
  const ask = async <Found>(question: Question): Promise<Found> => {
    const found = await answer(question)
    return (found && JSON.parse(Buffer.from(found.json).toString())) as Found
  }
  return {
    services: () => ask<ServiceSummary[]>({ about: 'services' }),
    status: () => ask<ObserveStatus>({ about: 'status' }),
    traces: (query: Query<'traces'>) => ask<TraceSummary[]>({ about: 'traces', query }),
    trace: (traceId: string, maxSpans: number) => ask<StoredTrace | undefined>({ about: 'trace', traceId, maxSpans }),
    metricNames: (query: Query<'metricNames'>) => ask<MetricName[]>({ about: 'metricNames', query }),
    metric: (query: Query<'metric'>) => ask<StoredMetric>({ about: 'metric', query }),
    logRecords: (query: Query<'logRecords'>) => ask<StoredLogRecord[]>({ about: 'logRecords', query }),
  }
}

/** A store that does the work of its threads on the thread of the test, with the clock of the test. */
export class OneThreadStore implements Pick<Observe, 'limits' | 'receive' | 'answer'> {
  readonly #writer: StoreWriter
  readonly #reader: ReturnType<typeof openReadOnly<ObserveTables>>
  readonly limits: ObserveLimits
  readonly asked: ReturnType<typeof questionsTo>

  static async open(options: { file: string; clock: Clock; limits?: Partial<ObserveLimits> }): Promise<OneThreadStore> {
    const db = openStoreFile(options.file)
    await migrate(db, migrations)
    await db.close()
    return new OneThreadStore(options.file, options.clock, { ...defaultObserveLimits, ...options.limits })
  }

  private constructor(file: string, clock: Clock, limits: ObserveLimits) {
    this.#writer = openStoreWriter({ file, clock, limits, log: silentLog })
    this.#reader = openReadOnly<ObserveTables>(file)
    this.limits = limits
    this.asked = questionsTo((question) => this.answer(question))
  }

  receive(delivery: Delivery): Promise<Receipt> {
    return this.#writer.receive(delivery)
  }

  receiveBody(signal: Signal, body: Uint8Array, encoding: Encoding): Promise<Receipt> {
    return this.receive({ signal, wire: body, encoding, coding: 'identity' })
  }

  answer(question: Question): Promise<Answer | undefined> {
    return answerQuestion(this.#reader.read, question, this.limits)
  }

  async close(): Promise<void> {
    await this.#reader.close()
    await this.#writer.close()
  }
}
