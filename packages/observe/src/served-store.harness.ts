import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { guarded, type Incoming, listen, serveRoutes } from '@penstock/http'
import { silentLog, systemClock } from '@penstock/runtime'
import { ManualClock } from '@penstock/testkit'
import type { ObserveMount } from './http/observe-mount.ts'
import { observeRoutes } from './http/observe-routes.ts'
import { observePath } from './http/query-route.ts'
import { type LiveLimits, LiveStreams } from './live/live-streams.ts'
import { OneThreadStore } from './one-thread-store.harness.ts'

/** The error with the status of an answer. */
export class StatusError extends Error {
  readonly status: number

  readonly details: object

  constructor(status: number, details: object = {}) {
    super(`status ${status}`)
    this.status = status
    this.details = details
  }
}

export interface ServedStoreOptions extends Partial<Omit<ObserveMount<string, 'anyone'>, 'store'>> {
  /** Returns the caller's name, or throws to refuse the request. */
  readonly enter?: (incoming: Incoming) => string
  readonly limits?: Partial<LiveLimits>
  /** The limit on jobs that statistics are computed from. */
  readonly maxHistoryJobs?: number
}

/** Serves the routes of an empty store over HTTP. */
export async function serveStore({
  enter = () => 'anyone',
  limits,
  maxHistoryJobs,
  ...mount
}: ServedStoreOptions = {}) {
  const directory = mkdtempSync(join(tmpdir(), 'penstock-observe-'))
  const clock = new ManualClock(1_767_225_600_000)
  const store = await OneThreadStore.open({ file: join(directory, 'observe.db'), clock, maxHistoryJobs })
  const streams = new LiveStreams(systemClock, limits)
  const routes = observeRoutes<string, 'anyone'>({
    store,
    access: 'anyone',
    streams,
    callerOf: (caller) => caller,
    tooManyStreams: () => new StatusError(429),
    unavailable: () => new StatusError(503),
    notSupported: () => new StatusError(501),
    traceNotFound: () => new StatusError(404),
    answerTooLarge: (answer) => new StatusError(413, answer),
    parse(schema, value) {
      const result = schema.safeParse(value)
      if (!result.success) throw new StatusError(400)
      return result.data
    },
    ...mount,
  })
  const renderError = (error: unknown) =>
    error instanceof StatusError ? { status: error.status, json: error.details } : { status: 500 }
  const listening = await listen(serveRoutes(guarded(routes, enter), { renderError, headers: {}, log: silentLog }), {
    host: '127.0.0.1',
    port: 0,
  })
  return {
    store,
    streams,
    clock,
    listening,
    url: listening.url + observePath,
    async get(path: string) {
      const response = await fetch(listening.url + observePath + path)
      const body = await response.text()
      return { status: response.status, headers: response.headers, json: body === '' ? undefined : JSON.parse(body) }
    },
    async close() {
      streams.close()
      await listening.close()
      await store.close()
      rmSync(directory, { recursive: true })
    },
  }
}
