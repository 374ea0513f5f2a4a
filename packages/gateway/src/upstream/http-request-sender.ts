import { contentTypes } from '@penstock/otlp'
import type { Random } from '@penstock/runtime'
import type { Answer, RefusedCause } from '../contract/answer.ts'
import { clientGone, gatewayRefusal } from '../contract/gateway-answers.ts'
import type { RefusalKind } from '../contract/refusals.ts'
import type { IngestSignal } from '../contract/signals.ts'
import type { UpstreamRequest } from '../contract/upstream.ts'
import type { UpstreamCredential } from './credential.ts'
import { answerOf } from './http-answer.ts'
import { type AttemptEnd, HttpAttempt } from './http-attempt.ts'
import type { HttpTargets, Target } from './http-targets.ts'
import type { CredentialOwner } from './status-codes.ts'
import type { WatchedFile } from './watched-file.ts'

/** The largest body that is kept for a second attempt. */
const REPLAYABLE_BYTES = 1024 * 1024

/** The longest delay of a Node timer; a longer one would fire immediately. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** The state that all requests to one upstream share. */
export interface SenderContext {
  readonly paths: Readonly<Record<IngestSignal, string>>
  readonly targets: HttpTargets
  readonly credential: UpstreamCredential | undefined
  readonly ca: WatchedFile<string> | undefined
  readonly owner: CredentialOwner
  readonly nowMs: () => number
  readonly monotonicMs: () => number
  readonly random: Random
  readonly onAlarm: (kind: 'credential' | 'misplaced', detail: string) => void
  readonly onDone: () => void
}

const TOO_SLOW = new Error('no answer in time')
const ABORTED = new Error('aborted')

/** Sends one request in at most two attempts, with one deadline for both. */
export class HttpRequestSender {
  readonly #context: SenderContext
  readonly #request: UpstreamRequest
  readonly #settle: { resolve(answer: Answer): void; reject(error: unknown): void }
  #timer: NodeJS.Timeout | undefined
  #activeAttempt: HttpAttempt | undefined
  #target: Target | undefined
  #attempts = 0
  #isOver = false

  constructor(
    context: SenderContext,
    request: UpstreamRequest,
    settle: { resolve(answer: Answer): void; reject(error: unknown): void },
  ) {
    this.#context = context
    this.#request = request
    this.#settle = settle
  }

  begin(): void {
    const { targets, credential, ca, monotonicMs } = this.#context
    const leftMs = Math.min(this.#request.deadlineMs - monotonicMs(), MAX_TIMER_MS)
    this.#timer = setTimeout(() => this.#interrupt(TOO_SLOW), leftMs)
    this.#request.onAbortable?.(() => this.#interrupt(ABORTED))
    const addresses = targets.refreshInBackground()
    const secret = credential?.refresh()
    const trust = ca?.refresh()
    if (addresses === undefined && secret === undefined && trust === undefined) {
      this.#attempt()
      return
    }
    Promise.all([addresses, secret, trust]).then(
      () => this.#attempt(),
      (error: Error) => this.#failed({ kind: 'failed', sent: false, error }),
    )
  }

  #attempt(): void {
    if (this.#isOver) return
    if (this.#hasBodyFailed()) {
      this.#finish(clientGone)
      return
    }
    this.#attempts += 1
    this.#target = this.#context.targets.pick(this.#target)
    this.#activeAttempt = new HttpAttempt((end) => this.#ended(end))
    const { signal, body } = this.#request
    this.#target.resource.dispatch(
      { path: this.#context.paths[signal], method: 'POST', headers: this.#headers(), body },
      this.#activeAttempt,
    )
  }

  #headers(): string[] {
    const { encoding, contentEncoding, headers, body, contentLength } = this.#request
    const { credential, owner } = this.#context
    const sent = ['content-type', contentTypes[encoding]]
    if (contentEncoding !== '') sent.push('content-encoding', contentEncoding)
    if (!(body instanceof Uint8Array) && contentLength !== undefined) sent.push('content-length', `${contentLength}`)
    if (credential !== undefined && owner === 'gateway') sent.push('authorization', credential.value)
    for (let index = 0; index < headers.length; index += 2) {
      const name = headers[index]!
      if (notForwarded.has(name) && !(name === 'authorization' && owner === 'client')) continue
      sent.push(name, headers[index + 1]!)
    }
    return sent
  }

  /** Ends the current attempt because of the deadline or because the client has gone. */
  #interrupt(reason: Error): void {
    if (this.#isOver) return
    if (this.#activeAttempt === undefined) this.#failed({ kind: 'failed', sent: false, error: reason })
    else this.#activeAttempt.interrupt(reason)
  }

  #ended(end: AttemptEnd): void {
    if (end.kind === 'failed') {
      this.#failed(end)
      return
    }
    const { reply } = end
    const { owner, nowMs, random } = this.#context
    if (this.#target !== undefined) this.#target.failures = 0
    const { signal, encoding } = this.#request
    const answer = answerOf(reply, { signal, encoding, owner, nowMs: nowMs(), random })
    if (answer.kind === 'refused') this.#raiseAlarm(reply.status)
    this.#finish(answer)
  }

  #raiseAlarm(status: number): void {
    const { owner, onAlarm } = this.#context
    if (status === 404 || status === 405) onAlarm('misplaced', `HTTP ${status} for ${this.#request.signal}`)
    else if (owner === 'gateway' && (status === 401 || status === 403)) onAlarm('credential', `HTTP ${status}`)
  }

  #failed({ sent, error }: Extract<AttemptEnd, { kind: 'failed' }>): void {
    if (this.#isOver) return
    if (error === ABORTED || this.#hasBodyFailed()) {
      this.#finish(clientGone)
    } else if (error === TOO_SLOW) {
      this.#refuse('upstream_slow', sent ? 'unknown' : 'unreachable', 'the upstream did not answer in time')
    } else if (sent) {
      this.#refuse('upstream_broke', 'unknown', 'the connection to the upstream broke')
    } else if ((error as NodeJS.ErrnoException).code === 'UND_ERR_INVALID_ARG') {
      this.#end()
      this.#settle.reject(error)
    } else {
      this.#notConnected()
    }
  }

  /** Tries again if possible: nothing has been sent, so a second attempt cannot duplicate data. */
  #notConnected(): void {
    if (this.#target !== undefined) {
      this.#context.targets.markFailed(this.#target)
      if (this.#attempts === 1 && isReplayable(this.#request.body)) {
        this.#attempt()
        return
      }
    }
    this.#refuse('upstream_unreachable', 'unreachable', 'the upstream cannot be reached')
  }

  #refuse(kind: RefusalKind, cause: RefusedCause, message: string): void {
    this.#finish(gatewayRefusal({ kind, message }, cause, this.#context.random))
  }

  #hasBodyFailed(): boolean {
    const { body } = this.#request
    return !(body instanceof Uint8Array) && body.errored !== null && body.errored !== undefined
  }

  #finish(answer: Answer): void {
    this.#end()
    this.#settle.resolve(answer)
  }

  #end(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
    const { body } = this.#request
    // Nothing reads the rest of the body, so its source must be released.
    if (!(body instanceof Uint8Array) && !body.readableEnded) body.destroy()
    this.#context.onDone()
  }
}

/**
 * Headers that the gateway sets itself or that concern one connection only. Without `accept-encoding`, upstream sends
 * uncompressed replies, which can be passed on over HTTP and gRPC.
 */
const notForwarded: ReadonlySet<string> = new Set([
  'accept-encoding',
  'authorization',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

function isReplayable(body: UpstreamRequest['body']): boolean {
  return body instanceof Uint8Array ? body.length <= REPLAYABLE_BYTES : !body.readableDidRead && !body.destroyed
}
