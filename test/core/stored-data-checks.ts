import { execFile } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type Db, openDatabase } from '@penstock/db'
import { repositoryPath } from '@penstock/testkit'
import { sql } from 'kysely'

/** Queries that find partially stored writes. The tests remove no such object, so each query must find nothing. */
const inconsistencies: Readonly<Record<string, string>> = {
  'an object without exactly one event of its creation': [
    'issues issue',
    'milestones milestone',
    'ci_variables variable',
  ]
    .map((pair) => pair.split(' '))
    .map(
      ([table, kind]) => `select '${kind}', thing.id from ${table} thing where 1 <>
        (select count(*) from events where type = '${kind}.created' and object_id = thing.id)`,
    )
    .join(' union all '),
  'an event of a missing object': ['issues issue', 'milestones milestone', 'ci_variables variable']
    .map((pair) => pair.split(' '))
    .map(
      ([table, kind]) => `select type, object_id from events
        where type like '${kind}.%' and object_id not in (select id from ${table})`,
    )
    .join(' union all '),
  'an issue with different numbers of state changes and events': `select id from issues where
    (select count(*) from issue_state_events where issue_id = issues.id) <>
    (select count(*) from events where object_id = issues.id and type in ('issue.closed', 'issue.reopened'))`,
  'an issue that is not in the state of its last change': `select id from issues where state <> coalesce(
    (select case action when 'closed' then 'closed' else 'opened' end from issue_state_events
     where issue_id = issues.id order by id desc limit 1), 'opened')`,
  'a milestone that is not in the state of its last event': `select id from milestones where state <> coalesce(
    (select case type when 'milestone.closed' then 'closed' else 'active' end from events
     where object_id = milestones.id and type in ('milestone.closed', 'milestone.reopened')
     order by id desc limit 1), 'active')`,
  'a duplicate iid': `select 'issue', project_id, iid from issues group by project_id, iid having count(*) > 1
    union all select 'milestone', group_id, iid from milestones group by group_id, iid having count(*) > 1`,
  'an iid that would be assigned again': `select 'issue', id from issues where iid >
    (select last from internal_ids where parent = 'project:' || project_id and kind = 'issues')
    union all select 'milestone', id from milestones where iid >
    (select last from internal_ids where parent = 'group:' || group_id and kind = 'milestones')`,
}

/** Returns the faults of a database, while a core is running on it. */
export async function databaseFaults({ read }: Db<object>, dataDir: string): Promise<string[]> {
  const file = join(dataDir, 'core.db')
  const faults = existsSync(file) ? await fileFaults(file) : []
  for (const [what, query] of Object.entries(inconsistencies)) {
    const { rows } = await sql.raw(query).execute(read)
    if (rows.length > 0) faults.push(`${what}: ${JSON.stringify(rows.slice(0, 5))}`)
  }
  return faults
}

/**
 * Returns the faults that SQLite reports for its file. The connection is new: one that has read the search index before compares
 * it with what it remembers, and reports the writes of other connections since then as corruption.
 */
async function fileFaults(file: string): Promise<string[]> {
  const db = openDatabase<object>(file)
  try {
    const integrity = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(db.read)
    const references = await sql`pragma foreign_key_check`.execute(db.read)
    const messages = integrity.rows.map((row) => row.integrity_check)
    return [
      ...(messages.join() === 'ok' ? [] : [`integrity_check: ${messages}`]),
      ...(references.rows.length === 0 ? [] : [`foreign_key_check: ${JSON.stringify(references.rows.slice(0, 5))}`]),
    ]
  } finally {
    await db.close()
  }
}

/** Returns a message for each acknowledged commit without exactly one push event. */
export async function commitsWithoutEvent({ read }: Db<object>, shas: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ details: string }>`
    select details from events where type = 'repository.pushed'`.execute(read)
  const pushed = rows.map(({ details }) => (JSON.parse(details) as { after: string }).after)
  return shas
    .filter((sha) => pushed.filter((after) => after === sha).length !== 1)
    .map((sha) => `commit ${sha} does not have exactly one push event`)
}

const SWEEP_TIMEOUT_MS = 60_000
const SWEEP_POLL_MS = 20

/** Waits until the sweep has undone unfinished changes and removed files. */
export async function untilSwept({ read }: Db<object>): Promise<void> {
  const giveUpAt = performance.now() + SWEEP_TIMEOUT_MS
  const isSwept = async () => {
    const { rows } = await sql`
      select repository from repository_changes union all
      select repository from removed_repositories where is_swept = 0`.execute(read)
    return rows.length === 0
  }
  while (!(await isSwept()) && performance.now() < giveUpAt) await sleep(SWEEP_POLL_MS)
}

/**
 * Returns a message for each repository without a project, and for each project with an acknowledged removal that still
 * exists. Call it after `untilSwept`.
 */
export async function orphans({ read }: Db<object>, dataDir: string, removedIds: readonly number[]): Promise<string[]> {
  const { rows } = await sql<{ id: number }>`select id from projects`.execute(read)
  const ids = new Set(rows.map(({ id }) => id))
  const directory = join(dataDir, 'repositories')
  const names = existsSync(directory) ? readdirSync(directory) : []
  return [
    ...names.filter((name) => !ids.has(Number.parseInt(name, 10))).map((name) => `${name} belongs to no project`),
    ...removedIds.filter((id) => ids.has(id)).map((id) => `project ${id} was removed but still exists`),
  ]
}

const run = promisify(execFile)

/** Returns the faults that Git reports for a repository, and acknowledged commits missing in it. */
export async function repositoryFaults(dataDir: string, projectId: number, shas: readonly string[]): Promise<string[]> {
  const gitdir = repositoryPath({ settings: { repositoriesDir: join(dataDir, 'repositories') } }, projectId)
  if (!existsSync(gitdir)) return shas.length === 0 ? [] : [`${gitdir} is missing`]
  const git = async (...args: string[]) =>
    (await run('git', ['--git-dir', gitdir, ...args], { timeout: 60_000 })).stdout
  try {
    const output = await git('fsck', '--full', '--strict', '--no-dangling', '--no-progress')
    const contained = new Set(shas.length === 0 ? [] : (await git('rev-list', 'main')).split('\n'))
    return [
      ...(output === '' ? [] : [`git fsck ${projectId}.git: ${output}`]),
      ...shas.filter((sha) => !contained.has(sha)).map((sha) => `commit ${sha} is no longer in main`),
    ]
  } catch (error) {
    return [`git on ${projectId}.git: ${(error as Error).message}`]
  }
}
