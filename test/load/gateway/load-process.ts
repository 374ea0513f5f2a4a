/**
 * A load generator in a separate process, so that it does not disturb the measurement. This file has both sides: `startLoad`
 * runs it as a script, which reads its order on stdin and answers on stdout.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { traceBody } from './bodies.ts'
import { type RawLoadResult, rawLoad } from './raw-load.ts'
import { seededRandom } from './token-text.ts'
import { type KnownTokens, wrongTokens } from './wrong-tokens.ts'

export interface LoadOrder {
  readonly port: number
  /**
   * The port of a server that accepts any request. It gets the same load for one second first, so that the compiler of the
   * load generator does not use the processors during the measurement.
   */
  readonly warmUpPort?: number
  readonly perSecond: number
  readonly count: number
  readonly connections: number
  readonly together?: number
  /** The approximate length of the trace request. */
  readonly bodyBytes: number
  /** The tokens: any of `valid` for each request, or wrong ones that are made from `wrong`. */
  readonly tokens: { readonly valid: readonly string[] } | { readonly wrong: KnownTokens; readonly seed: number }
}

const self = fileURLToPath(import.meta.url)

export async function startLoad(order: LoadOrder): Promise<RawLoadResult> {
  const child = spawn(process.execPath, [self], { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(JSON.stringify(order))
  const [said] = await Promise.all([text(child.stdout), once(child, 'close')])
  if (child.exitCode !== 0) throw new Error(`the load ended with ${child.exitCode ?? child.signalCode}`)
  return JSON.parse(said) as RawLoadResult
}

if (process.argv[1] === self) {
  const order = JSON.parse(await text(process.stdin)) as LoadOrder
  const load = { ...order, body: traceBody(order.bodyBytes), tokenOf: tokenOf(order) }
  if (order.warmUpPort !== undefined) {
    await rawLoad({ ...load, port: order.warmUpPort, count: Math.min(order.perSecond, order.count) })
  }
  console.log(JSON.stringify(await rawLoad(load)))
}

function tokenOf({ tokens }: LoadOrder): (index: number) => string {
  if ('wrong' in tokens) return wrongTokens(tokens.wrong, tokens.seed)
  const random = seededRandom(1)
  return () => tokens.valid[Math.floor(random() * tokens.valid.length)]!
}
