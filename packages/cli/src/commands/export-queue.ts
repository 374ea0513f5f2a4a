import { type Core, DomainError, getProject } from '@penstock/core'
import type { Db } from '@penstock/db'
import { DeliveryQueue, type DeliveryStatus } from '@penstock/delivery'
import { dropFetches, EXPORT_QUEUE, type ExporterTables, findEnqueuedAtMs, parseExportKey } from '@penstock/exporter'
import { Argument, type Command, Option, type OptionValues } from 'commander'
import { asCoreOperator, requireCoreDatabase, settingsOf } from '../core/core-operator.ts'
import { deliveryFacts } from '../exporting/delivery-facts.ts'
import { projectIdOf } from '../exporting/project-scope.ts'
import type { CommandDefinition } from '../flags/command-definition.ts'
import { integerFrom } from '../input/input-flags.ts'
import { type Environment, exitCodes, UsageError } from '../process/environment.ts'
import { write } from '../process/output.ts'
import { addStoreFlags } from '../serve/operator.ts'
import type { Settings } from '../settings/setting-table.ts'
import { type Column, textTable } from '../text/text-table.ts'
import { formatCount, printable } from '../text/wording.ts'

const notes = `
A delivery is one signal of one pipeline. It is open until it is accepted. It is dead after the receiver has refused it or the
retry time has passed. A delivered one is kept for some time. A dead one stays until it is replayed, which restarts its retry
time, or dropped. An open one of a source that is missing from the settings of every service stays open; --source drops all of
these, and its runs that wait to be read from their forge. Lists begin with the latest delivery. Running services apply
changes within seconds.

Examples:
  $ penstock export-queue list
  $ penstock export-queue list --state open --limit 20 --before 1042
  $ penstock export-queue show 17
  $ penstock export-queue replay 17 18
  $ penstock export-queue replay --all --reason 401
  $ penstock export-queue drop 17
  $ penstock export-queue drop --state open 18
  $ penstock export-queue drop --source old-forge

Exit codes: 0 done, 1 some deliveries do not exist or are in another state, 2 usage.
`

type State = DeliveryStatus['state']
const PAGE = 1_000

interface ActionContext extends Pick<Environment, 'stdout' | 'stderr'> {
  readonly queue: DeliveryQueue
  readonly db: Pick<Db<ExporterTables>, 'read' | 'write'>
  readonly settings: Settings
  readonly names: ScopeNames
  readonly nowMs: number
}

type Action = (context: ActionContext, ids: readonly number[], flags: OptionValues) => Promise<number>

const actions: Readonly<Record<string, Action>> = {
  list: async ({ queue, names, stdout, stderr }, _ids, flags) => {
    const [state, limit] = [flags.state as State, flags.limit as number]
    const rows: string[][] = []
    let isMore = false
    for await (const status of deliveries(queue, state, flags.before as number | undefined)) {
      isMore = rows.length === limit
      if (isMore) break
      rows.push(await cells(status, names))
    }
    await write(stdout, `${textTable(columns(state), rows).join('\n')}\n`)
    if (isMore) await write(stderr, `… and more: --before ${rows.at(-1)![0]}\n`)
    return exitCodes.ok
  },
  show: async ({ queue, db, settings, names, stdout }, ids) => {
    if (ids.length !== 1)
      throw new UsageError('the id of one delivery is missing; run penstock export-queue list to see the ids')
    const status = await queue.find(ids[0]!)
    if (status === undefined) throw new UsageError(`there is no delivery ${ids[0]}`)
    const { endpoint, trace, instance } = await deliveryFacts(db, settings, status.key)
    const rows = [
      ...(await facts(status, names, instance, await findEnqueuedAtMs(db.read, status.key))),
      ['endpoint', printable(endpoint)],
      ['trace', trace],
    ]
    await write(stdout, `${textTable(factColumns, rows).slice(1).join('\n')}\n`)
    return exitCodes.ok
  },
  replay: async (context, ids, flags) => {
    const { queue, nowMs } = context
    if (flags.all !== true) return each(context, ids, ['replayed', 'dead'], (id) => queue.replay(id, nowMs))
    if (ids.length > 0) throw new UsageError('--all cannot be combined with ids')
    const wanted = ((flags.reason as string | undefined) ?? '').toLowerCase()
    let count = 0
    for await (const { id, reason } of deliveries(queue, 'dead')) {
      if (reason.toLowerCase().includes(wanted) && (await queue.replay(id, nowMs))) count += 1
    }
    await write(context.stderr, `deliveries replayed: ${formatCount(count)}\n`)
    return exitCodes.ok
  },
  drop: async (context, ids, flags) => {
    const { queue, db } = context
    const [state, source] = [flags.state as State, flags.source as string | undefined]
    if (state === 'delivered') throw new UsageError('delivered deliveries are removed automatically')
    if (source === undefined) return each(context, ids, ['dropped', state], (id) => queue.drop(id, state))
    if (ids.length > 0) throw new UsageError('--source cannot be combined with ids')
    let count = 0
    for await (const { id, key } of deliveries(queue, 'open')) {
      if (parseExportKey(key)?.scope === `source:${source}` && (await queue.drop(id, 'open'))) count += 1
    }
    count += await db.write((tx) => dropFetches(tx, `source:${source}`))
    await write(context.stderr, `deliveries dropped: ${formatCount(count)}\n`)
    return exitCodes.ok
  },
}

export const exportQueueCommand: CommandDefinition = {
  name: 'export-queue',
  define: (command: Command) => {
    addStoreFlags(
      command
        .summary('manages open and dead deliveries of the exporter')
        .description('Lists, shows, replays and drops deliveries of the exporter in the database of the core.')
        .addArgument(new Argument('<action>', 'the action').choices(Object.keys(actions)))
        .argument('[id...]', 'ids of deliveries')
        .addOption(
          new Option('--state <state>', 'state of the deliveries to list or to drop')
            .choices(['dead', 'open', 'delivered'])
            .default('dead'),
        )
        .addOption(
          new Option('--limit <count>', 'maximum number of listed deliveries')
            .argParser(integerFrom(1, 100_000))
            .default(100),
        )
        .addOption(new Option('--before <id>', 'lists only older deliveries').argParser(integerFrom(1, 2 ** 31 - 1)))
        .addOption(new Option('--all', 'replays all dead deliveries'))
        .addOption(new Option('--reason <text>', 'with --all: only deliveries with this text in their reason'))
        .addOption(new Option('--source <name>', 'drops all open deliveries of this source')),
    ).addHelpText('after', notes)
  },
  run: async ([action = '', ...words], flags, environment) => {
    if (flags.reason !== undefined && flags.all !== true) throw new UsageError('--reason is for --all')
    if (flags.all === true && action !== 'replay') throw new UsageError('--all is for replay')
    if (flags.source !== undefined && action !== 'drop') throw new UsageError('--source is for drop')
    const ids = words.map(idOf)
    requireCoreDatabase(flags, environment)
    const { stdout, stderr, clock } = environment
    return asCoreOperator(flags, environment, (core, db) =>
      actions[action]!(
        {
          queue: new DeliveryQueue(db, EXPORT_QUEUE),
          db,
          settings: settingsOf(flags, environment.env),
          names: new ScopeNames(core),
          nowMs: clock.nowMs(),
          stdout,
          stderr,
        },
        ids,
        flags,
      ),
    )
  },
}

function idOf(word: string): number {
  if (!/^[1-9]\d{0,14}$/.test(word)) throw new UsageError('the id of a delivery is a number')
  return Number(word)
}

async function* deliveries(queue: DeliveryQueue, state: State, before?: number) {
  for (let beforeId = before; ; ) {
    const page = await queue.list(state, { limit: PAGE, ...(beforeId !== undefined && { beforeId }) })
    yield* page
    if (page.length === 0) return
    beforeId = page.at(-1)!.id
  }
}

async function each(
  { queue, stderr }: ActionContext,
  ids: readonly number[],
  [done, state]: readonly [string, State],
  work: (id: number) => Promise<boolean>,
): Promise<number> {
  if (ids.length === 0)
    throw new UsageError('the ids of deliveries are missing; run penstock export-queue list to see them')
  let exitCode: number = exitCodes.ok
  for (const id of ids) {
    const isDone = await work(id)
    if (!isDone) exitCode = exitCodes.incomplete
    await write(stderr, isDone ? `${done} ${id}\n` : `${refusalReason(id, [done, state], await queue.find(id))}\n`)
  }
  return exitCode
}

function refusalReason(
  id: number,
  [done, wanted]: readonly [string, State],
  status: DeliveryStatus | undefined,
): string {
  if (status === undefined) return `there is no delivery ${id}`
  if (status.state === wanted) return `delivery ${id} was changed by another process; try again`
  const remedy = done === 'dropped' && status.state !== 'delivered' ? `; use --state ${status.state} to drop it` : ''
  return `delivery ${id} is ${status.state}, not ${wanted}${remedy}`
}

const left = (title: string): Column => ({ title, align: 'left' })
const factColumns = [left(''), left('')]

const columns = (state: State): Column[] => [
  { title: 'ID', align: 'right' },
  left('SCOPE'),
  left('PIPELINE'),
  left('SIGNAL'),
  left('STATE'),
  { title: 'ATTEMPTS', align: 'right' },
  left(state === 'open' ? 'NEXT TRY' : 'SINCE'),
  left('REASON'),
]

async function cells(status: DeliveryStatus, names: ScopeNames): Promise<string[]> {
  const { id, key, state, attemptsMade, reason } = status
  const about = parseExportKey(key)
  return [
    String(id),
    about === undefined ? '-' : await names.of(about.scope),
    about === undefined ? printable(key) : about.pipelineId + (about.round > 1 ? ` #${about.round}` : ''),
    about?.signal ?? '-',
    state,
    String(attemptsMade),
    timeOf(status),
    printable(reason) || '-',
  ]
}

async function facts(
  status: DeliveryStatus,
  names: ScopeNames,
  instance: string,
  takenInMs = status.enqueuedAtMs,
): Promise<string[][]> {
  const [id, scope, pipeline, signal, state, attempts, time, reason] = await cells(status, names)
  return [
    ['id', id!],
    ['scope', scope!],
    ['instance', printable(instance)],
    ['pipeline', pipeline!],
    ['signal', signal!],
    ['state', state!],
    ['enqueued', new Date(takenInMs).toISOString()],
    ...(takenInMs === status.enqueuedAtMs ? [] : [['replayed', new Date(status.enqueuedAtMs).toISOString()]]),
    ['attempts', attempts!],
    [status.state === 'open' ? 'next try' : status.state, time!],
    ['reason', reason!],
  ]
}

const timeOf = ({ state, dueAtMs, settledAtMs }: DeliveryStatus): string =>
  new Date(state === 'open' ? dueAtMs : (settledAtMs ?? dueAtMs)).toISOString()

/** Turns scopes into names: `project:5` into `ops/tools`, `source:forge` into `source forge`. Queries each project once. */
class ScopeNames {
  readonly #core: Core
  readonly #known = new Map<string, string>()

  constructor(core: Core) {
    this.#core = core
  }

  async of(scope: string): Promise<string> {
    const known = this.#known.get(scope) ?? (await this.#find(scope))
    this.#known.set(scope, known)
    return known
  }

  async #find(scope: string): Promise<string> {
    const id = projectIdOf(scope)
    if (id === undefined) return printable(scope.replace(/^source:/, 'source '))
    const { db, clock } = this.#core
    try {
      return (await getProject({ db: db.read, nowMs: clock.nowMs() }, id)).fullPath
    } catch (error) {
      if (error instanceof DomainError && error.failure.code === 'not_found') return `project ${id}, gone`
      throw error
    }
  }
}
