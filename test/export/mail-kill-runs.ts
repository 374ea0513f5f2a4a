import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase } from '@penstock/db'
import { SMTPServer } from 'smtp-server'
import { CoreProcess } from '../core/core-process.ts'
import { seededRandom } from '../load/gateway/token-text.ts'
import { endLeases, IssueLoad, untilDrained } from './issue-load.ts'

/** Two users get each mail, so that a fault in the search for recipients shows. */
const WATCHERS = ['one', 'other']
const MAX_ANSWER_MS = 40
/** Mails that a killed process has sent may arrive this much later, and long before the next process sends. */
const LATE_MS = 300
/** The mails that a process sends at the same time: their answers can be lost together. */
const MAX_UNANSWERED = 40

export interface MailKillOptions {
  readonly kills: number
  readonly seed: number
  readonly perSecond: number
  /** The highest number of acknowledged issues before a kill; the actual number is drawn between 1 and this. */
  readonly maxPerLife: number
}

export interface MailKillResult {
  readonly acknowledged: number
  /** The mails that the server got. */
  readonly received: number
  /** The mails that arrived twice, because a kill came before their answer was stored. */
  readonly twice: readonly string[]
  readonly faults: readonly string[]
}

/**
 * Repeatedly kills a service while issues are created and mails about them are queued and sent, and starts it again. Then
 * compares the acknowledged issues with the mails that the server got.
 */
export async function mailKillRuns({ kills, seed, perSecond, maxPerLife }: MailKillOptions): Promise<MailKillResult> {
  const random = seededRandom(seed)
  const dataDir = mkdtempSync(join(tmpdir(), 'penstock-mail-kill-'))
  const receiver = await Receiver.start(random)
  const start = () => CoreProcess.start(dataDir, { env: { PENSTOCK_SMTP_URL: receiver.url } })
  let service = await start()
  const db = openDatabase<object>(join(dataDir, 'core.db'))
  try {
    const project = await service.must('POST', '/projects', { name: 'work', path: 'work' })
    for (const name of WATCHERS) await addWatcher(service, project.id, name)
    const load = new IssueLoad(project.id, perSecond)
    const killedAtMs: number[] = []
    for (let life = 0; life < kills; life += 1) {
      await load.send(service, 1 + Math.floor(random() * maxPerLife))
      service.kill()
      await service[Symbol.asyncDispose]()
      killedAtMs.push(performance.now())
      await endLeases(db)
      service = await start()
    }
    await untilDrained(db)
    await service.end()
    return { acknowledged: load.acknowledged.size, ...compared(load.acknowledged, receiver.arrivals, killedAtMs) }
  } finally {
    await service[Symbol.asyncDispose]()
    await db.close()
    await receiver.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

async function addWatcher(service: CoreProcess, project: number, username: string): Promise<void> {
  const user = { username, name: username, email: `${username}@example.test`, password: 'correct horse 1' }
  const { id } = await service.must('POST', '/users', { ...user, skip_confirmation: true })
  await service.must('POST', `/projects/${project}/members`, { user_id: id, access_level: 30 })
  await service.must('PUT', `/notification_settings?level=watch&sudo=${id}`)
}

/** An SMTP server that keeps the times at which each mail has arrived, by recipient and issue: `one: issue 7`. */
class Receiver {
  readonly arrivals = new Map<string, number[]>()
  readonly #server: SMTPServer

  static async start(random: () => number): Promise<Receiver> {
    const receiver = new Receiver(random)
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve))
    return receiver
  }

  private constructor(random: () => number) {
    this.#server = new SMTPServer({
      authOptional: true,
      closeTimeout: 100,
      disabledCommands: ['STARTTLS'],
      onData: async (stream, { envelope }, callback) => {
        // A killed process may have sent a part of the mail.
        const chunks = await stream.toArray().catch(() => undefined)
        if (chunks === undefined) return
        const source = Buffer.concat(chunks).toString()
        const title = /^Subject: .*\b(issue \d+) \(/m.exec(source)?.[1]
        const mail = `${envelope.rcptTo[0]!.address.split('@')[0]}: ${title}`
        this.arrivals.set(mail, [...(this.arrivals.get(mail) ?? []), performance.now()])
        await sleep(random() * MAX_ANSWER_MS)
        callback()
      },
    })
    this.#server.on('error', () => {})
  }

  get url(): string {
    return `smtp://127.0.0.1:${(this.#server.server.address() as AddressInfo).port}`
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#server.close(() => resolve()))
  }
}

function compared(
  acknowledged: ReadonlySet<string>,
  arrivals: ReadonlyMap<string, readonly number[]>,
  killedAtMs: readonly number[],
): Pick<MailKillResult, 'received' | 'twice' | 'faults'> {
  const lifeAt = (atMs: number) => killedAtMs.filter((killedMs) => killedMs + LATE_MS < atMs).length
  const faults: string[] = []
  const twice: string[] = []
  const unanswered = new Map<number, number>()
  for (const [mail, times] of arrivals) {
    const lives = times.map(lifeAt)
    if (new Set(lives).size < lives.length) faults.push(`${mail} arrived twice without a kill in between`)
    if (lives.length === 1) continue
    twice.push(`${mail}, before and after kill ${lives[0]! + 1}`)
    for (const life of lives.slice(0, -1)) unanswered.set(life, (unanswered.get(life) ?? 0) + 1)
  }
  for (const [life, count] of unanswered) {
    if (count > MAX_UNANSWERED) faults.push(`${count} mails arrived again after kill ${life + 1}`)
  }
  for (const title of acknowledged) {
    for (const name of WATCHERS) {
      if (!arrivals.has(`${name}: ${title}`)) faults.push(`the mail to ${name} about ${title} is lost`)
    }
  }
  const received = [...arrivals.values()].reduce((sum, times) => sum + times.length, 0)
  return { received, twice, faults: faults.slice(0, 50) }
}
