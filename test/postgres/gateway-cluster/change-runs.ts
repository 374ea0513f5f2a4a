import type { GatewayCluster } from './gateway-cluster.ts'
import type { GatewayHost } from './gateway-host.ts'

export interface ChangeRunOptions {
  readonly changes: number
  readonly random: () => number
}

export interface ChangeRunResult {
  /** The time of each change until the last gateway obeyed, by kind of change. */
  readonly delaysMs: ReadonlyMap<ChangeKind, readonly number[]>
  /** The slowest answers of the API. */
  readonly slowestCallMs: number
  readonly faults: readonly string[]
}

export type ChangeKind = 'create' | 'revoke' | 'rotate' | 'disable' | 'enable' | 'expire' | 'enforce' | 'relax'

interface Token {
  readonly id: string
  readonly token: string
}

/** The answer that each gateway must give after a change. */
interface Expected {
  readonly token: string | undefined
  readonly status: 200 | 401
}

/** The state that the changes lead to. */
interface State {
  readonly valid: Token[]
  readonly disabled: Token[]
  isEnforced: boolean
}

/** A change that was sent. */
interface Change {
  /** The time from which it is measured: that of sending it, or that of an expiry. */
  readonly sinceMs: number
  readonly expected: readonly Expected[]
  /** The answer of the API, if gateways may obey before it arrives. */
  readonly answer?: Promise<unknown>
}

/** Longer than the bound of two seconds, so that a late gateway is measured instead of given up. */
const LIMIT_MS = 20_000
/** The gateway keeps the last valid token, and random choices need some. */
const FEWEST_VALID = 5
const MOST_VALID = 40
/** Short enough for a test, and long enough for the answer of the API. */
const EXPIRES_IN_MS = 1_500

/**
 * Makes random changes of tokens and enforcement through random gateways, one after the other, and measures for each the
 * time until all gateways obey. Only one that is measured changes the answers of its token.
 */
export async function changeRuns(
  cluster: GatewayCluster,
  { changes, random }: ChangeRunOptions,
): Promise<ChangeRunResult> {
  const { hosts } = cluster
  const state: State = { valid: [], disabled: [], isEnforced: false }
  const delaysMs = new Map<ChangeKind, number[]>()
  const faults: string[] = []
  let slowestCallMs = 0
  const take = <Item>(items: Item[]): Item => items.splice(Math.floor(random() * items.length), 1)[0]!
  /** Calls the API of a random gateway. Probes may run in between. */
  const call = async (method: string, path: string, body?: object) => {
    const startMs = performance.now()
    const reply = await hosts[Math.floor(random() * hosts.length)]!.call(method, path, body)
    slowestCallMs = Math.max(slowestCallMs, performance.now() - startMs)
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${reply.text}`)
    return reply.json
  }
  const createToken = async (): Promise<Token> => call('POST', '/tokens', { name: `cluster ${random()}` })
  const makers: Readonly<Record<ChangeKind, (sinceMs: number) => Promise<Change>>> = {
    create: async (sinceMs) => {
      const created = await createToken()
      state.valid.push(created)
      return { sinceMs, expected: [accepted(created)] }
    },
    revoke: async (sinceMs) => {
      const token = take(state.valid)
      return { sinceMs, expected: [refused(token)], answer: call('DELETE', `/tokens/${token.id}`) }
    },
    rotate: async (sinceMs) => {
      const old = take(state.valid)
      const rotated: Token = await call('POST', `/tokens/${old.id}/rotate`, { overlap_seconds: 0 })
      state.valid.push(rotated)
      return { sinceMs, expected: [accepted(rotated), refused(old)] }
    },
    disable: async (sinceMs) => {
      const token = take(state.valid)
      state.disabled.push(token)
      const answer = call('PATCH', `/tokens/${token.id}`, { disabled: true })
      return { sinceMs, expected: [refused(token)], answer }
    },
    enable: async (sinceMs) => {
      const token = take(state.disabled)
      state.valid.push(token)
      const answer = call('PATCH', `/tokens/${token.id}`, { disabled: false })
      return { sinceMs, expected: [accepted(token)], answer }
    },
    expire: async () => {
      const token = take(state.valid)
      const nowMs = Date.now()
      await call('PATCH', `/tokens/${token.id}`, { expires_at: new Date(nowMs + EXPIRES_IN_MS).toISOString() })
      return { sinceMs: performance.now() + EXPIRES_IN_MS - (Date.now() - nowMs), expected: [refused(token)] }
    },
    enforce: async (sinceMs) => {
      state.isEnforced = true
      const answer = call('PUT', '/state', { enabled: true })
      return { sinceMs, expected: [{ token: undefined, status: 401 }], answer }
    },
    relax: async (sinceMs) => {
      state.isEnforced = false
      const answer = call('PUT', '/state', { enabled: false })
      return { sinceMs, expected: [{ token: undefined, status: 200 }], answer }
    },
  }

  while (state.valid.length < 2 * FEWEST_VALID) state.valid.push(await createToken())
  for (let index = 0; index < changes; index += 1) {
    const kind = drawKind(state, random)
    const { sinceMs, expected, answer } = await makers[kind](performance.now())
    const measuring = hosts.flatMap((host) => expected.map((one) => measure(host, one, sinceMs)))
    const [measured] = await Promise.all([Promise.all(measuring), answer])
    const ends = delaysMs.get(kind) ?? []
    delaysMs.set(kind, ends)
    ends.push(Math.max(...measured.map(({ delayMs }) => delayMs)))
    faults.push(...measured.flatMap(({ fault }) => (fault === undefined ? [] : [`change ${index}, ${kind}: ${fault}`])))
  }
  return { delaysMs, slowestCallMs, faults: faults.slice(0, 20) }
}

const accepted = ({ token }: Token): Expected => ({ token, status: 200 })
const refused = ({ token }: Token): Expected => ({ token, status: 401 })

/** Draws a kind of change that is possible in this state. Without enforcement, changes of tokens would not be visible. */
function drawKind({ valid, disabled, isEnforced }: State, random: () => number): ChangeKind {
  if (!isEnforced) return 'enforce'
  const kinds: ChangeKind[] = ['create', 'create', 'rotate', 'relax']
  if (valid.length >= MOST_VALID) kinds.splice(0, 2)
  if (valid.length > FEWEST_VALID) kinds.push('revoke', 'revoke', 'disable', 'expire')
  if (disabled.length > 0) kinds.push('enable')
  return kinds[Math.floor(random() * kinds.length)]!
}

/** Measures when a gateway begins to obey, and checks that it continues to do so. */
async function measure(
  host: GatewayHost,
  { token, status }: Expected,
  sinceMs: number,
): Promise<{ readonly delayMs: number; readonly fault?: string }> {
  const waitMs = sinceMs - performance.now()
  if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
  const delayMs = await host.timeUntil(token, status, { sinceMs, limitMs: LIMIT_MS })
  if (delayMs === undefined) return { delayMs: LIMIT_MS, fault: `${host.name} did not obey` }
  const again = await host.probe(token)
  return again === status ? { delayMs } : { delayMs, fault: `${host.name} answered ${status}, and then ${again}` }
}
