/**
 * Creates an issue in a project of 10,000 watchers, and measures how long its mails take to be queued and how much longer
 * requests take beside it: `npm run bench:mail`. Argument: another number of watchers.
 */
import { loadavg } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase } from '@penstock/db'
import { sql } from 'kysely'
import { SMTPServer } from 'smtp-server'
import { atMost, reportBounds } from './bounds.ts'
import { startPenstockCore } from './core/penstock-core.ts'
import { median, printTable } from './measure.ts'

const [watchers = 10_000] = process.argv.slice(2).map(Number)
const ROUNDS = 5
const MAX_QUEUED_MS = 5_000
const MAX_SLOWER = 1.1
/** The time in which requests are measured without mails, before each round. */
const BASELINE_MS = 3_000
const ROWS = 500

console.log(`load average ${loadavg()[0]!.toFixed(2)}`)
const smtp = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS'],
  onData: (stream, _session, callback) => {
    stream.resume().on('end', () => callback())
  },
})
smtp.on('error', () => {})
await new Promise<void>((resolve) => smtp.listen(0, '127.0.0.1', resolve))
const { port } = smtp.server.address() as { port: number }
const core = await startPenstockCore(undefined, { PENSTOCK_SMTP_URL: `smtp://127.0.0.1:${port}` })
const db = openDatabase<object>(core.location)
try {
  const project = await core.call('POST', '/projects', { name: 'work', path: 'work' })
  await insertWatchers(project.id)
  const rounds: { queuedMs: number; alone: number[]; beside: number[]; queued: number }[] = []
  // The first round is the warm-up.
  for (let round = 0; round <= ROUNDS; round += 1) {
    const alone = await timesUntil(project.id, sleep(BASELINE_MS))
    const beganMs = performance.now()
    let queuedMs = 0
    const queued = (async () => {
      await core.call('POST', `/projects/${project.id}/issues`, { title: `issue ${round}` })
      while (await isSearching()) await sleep(50)
      queuedMs = performance.now() - beganMs
    })()
    const beside = await timesUntil(project.id, queued)
    const { rows } = await sql<{ count: number }>`
      select count(*) as count from deliveries where queue = 'mail' and lane = 'mail'`.execute(db.read)
    rounds.push({ queuedMs, alone, beside, queued: Number(rows[0]!.count) })
    // The next round begins without the mails of this one, except for those in progress, which end within the pause.
    await db.write((tx) => sql`delete from deliveries where queue = 'mail'`.execute(tx))
    await sleep(1_000)
  }
  const measured = rounds.slice(1)
  const mean = (times: readonly number[]) => times.reduce((sum, time) => sum + time, 0) / times.length
  printTable([
    ['round', 'mails', 'queued in ms', 'request alone, mean ms', 'beside the mails'],
    ...measured.map(({ queued, queuedMs, alone, beside }, index) => [
      ...[String(index + 1), String(queued), queuedMs.toFixed(0), mean(alone).toFixed(2), mean(beside).toFixed(2)],
    ]),
  ])
  const slower = median(measured.map(({ alone, beside }) => mean(beside) / mean(alone)))
  reportBounds(`Mails of one event to ${watchers} watchers`, [
    atMost('recipients without a mail', watchers - Math.min(...measured.map(({ queued }) => queued)), 0, '', 0),
    atMost('time until all mails are queued', median(measured.map(({ queuedMs }) => queuedMs)), MAX_QUEUED_MS, 'ms', 0),
    atMost('requests beside the mails, of those alone', slower, MAX_SLOWER, '', 2),
  ])
} finally {
  await core.stop()
  await db.close()
  await new Promise<void>((resolve) => smtp.close(() => resolve()))
}

/** Returns whether a notification still waits for the search for its recipients. */
async function isSearching(): Promise<boolean> {
  const { rows } = await sql`
    select 1 from deliveries where queue = 'mail' and lane = 'recipients' and state = 'open'`.execute(db.read)
  return rows.length > 0
}

/** Sends requests one after the other until `end` resolves, and returns how long each took. */
async function timesUntil(project: number, end: Promise<unknown>): Promise<number[]> {
  let isOver = false
  void end.finally(() => {
    isOver = true
  })
  const times: number[] = []
  while (!isOver) {
    const beganMs = performance.now()
    const response = await fetch(`http://127.0.0.1:${core.port}/api/v4/projects/${project}`, {
      headers: { 'PRIVATE-TOKEN': core.rootToken },
    })
    await response.arrayBuffer()
    times.push(performance.now() - beganMs)
  }
  await end
  return times
}

/** Inserts users who are members of the project and watch everything. */
async function insertWatchers(project: number): Promise<void> {
  for (let at = 0; at < watchers; at += ROWS) {
    const names = Array.from({ length: Math.min(ROWS, watchers - at) }, (_, index) => `watcher${at + index}`)
    await db.write(async (tx) => {
      const { rows } = await sql<{ id: number }>`
        insert into users (username, name, email, state, is_admin, is_bot, created_at_ms, updated_at_ms)
        values ${sql.join(names.map((name) => sql`(${name}, ${name}, ${`${name}@example.test`}, 'active', 0, 0, 0, 0)`))}
        returning id`.execute(tx)
      const ids = rows.map(({ id }) => id)
      await sql`insert into members (user_id, project_id, access_level, created_at_ms)
        values ${sql.join(ids.map((id) => sql`(${id}, ${project}, 30, 0)`))}`.execute(tx)
      await sql`insert into notification_settings (user_id, level, switches)
        values ${sql.join(ids.map((id) => sql`(${id}, 'watch', '{}')`))}`.execute(tx)
    })
  }
}
