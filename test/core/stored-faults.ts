import { execFile } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { Db } from '@penstock/db'
import { sql } from 'kysely'

/** What would be half a write; nothing here is ever removed. Each must find nothing. */
const halves: Readonly<Record<string, string>> = {
  'a thing without the one event of its creation': ['issues issue', 'milestones milestone', 'ci_variables variable']
    .map((pair) => pair.split(' '))
    .map(
      ([table, kind]) => `select '${kind}', thing.id from ${table} thing where 1 <>
        (select count(*) from events where type = '${kind}.created' and object_id = thing.id)`,
    )
    .join(' union all '),
  'an event of a thing that is not there': ['issues issue', 'milestones milestone', 'ci_variables variable']
    .map((pair) => pair.split(' '))
    .map(
      ([table, kind]) => `select type, object_id from events
        where type like '${kind}.%' and object_id not in (select id from ${table})`,
    )
    .join(' union all '),
  'an issue whose changes of state are not those of its events': `select id from issues where
    (select count(*) from issue_state_events where issue_id = issues.id) <>
    (select count(*) from events where object_id = issues.id and type in ('issue.closed', 'issue.reopened'))`,
  'an issue that is not in the state of its last change': `select id from issues where state <> coalesce(
    (select case action when 'closed' then 'closed' else 'opened' end from issue_state_events
     where issue_id = issues.id order by id desc limit 1), 'opened')`,
  'a milestone that is not in the state of its last event': `select id from milestones where state <> coalesce(
    (select case type when 'milestone.closed' then 'closed' else 'active' end from events
     where object_id = milestones.id and type in ('milestone.closed', 'milestone.reopened')
     order by id desc limit 1), 'active')`,
  'two of one number': `select 'issue', project_id, iid from issues group by project_id, iid having count(*) > 1
    union all select 'milestone', group_id, iid from milestones group by group_id, iid having count(*) > 1`,
  'a number that would be given again': `select 'issue', id from issues where iid >
    (select last from internal_ids where parent = 'project:' || project_id and kind = 'issues')
    union all select 'milestone', id from milestones where iid >
    (select last from internal_ids where parent = 'group:' || group_id and kind = 'milestones')`,
}

/** What is wrong in the database, beside a core that is running on it. */
export async function databaseFaults({ read }: Db<object>, dataDir: string): Promise<string[]> {
  const faults = existsSync(join(dataDir, 'core.db')) ? await fileFaults(read) : []
  for (const [what, query] of Object.entries(halves)) {
    const { rows } = await sql.raw(query).execute(read)
    if (rows.length > 0) faults.push(`${what}: ${JSON.stringify(rows.slice(0, 5))}`)
  }
  return faults
}

/** What SQLite itself says of its file. */
async function fileFaults(read: Db<object>['read']): Promise<string[]> {
  const integrity = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(read)
  const references = await sql`pragma foreign_key_check`.execute(read)
  const said = integrity.rows.map((row) => row.integrity_check)
  return [
    ...(said.join() === 'ok' ? [] : [`integrity_check: ${said}`]),
    ...(references.rows.length === 0 ? [] : [`foreign_key_check: ${JSON.stringify(references.rows.slice(0, 5))}`]),
  ]
}

/** Of commits that were acknowledged: those without the one event of their push. */
export async function unannouncedCommits({ read }: Db<object>, shas: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ details: string }>`
    select details from events where type = 'repository.pushed'`.execute(read)
  const announced = rows.map(({ details }) => (JSON.parse(details) as { after: string }).after)
  return shas
    .filter((sha) => announced.filter((after) => after === sha).length !== 1)
    .map((sha) => `commit ${sha} has not one event of its push`)
}

const SWEEP_TIMEOUT_MS = 10_000
const SWEEP_POLL_MS = 50

/**
 * Repositories of projects that are not there, and projects whose removal was acknowledged that are. Waits for what a start
 * has to remove.
 */
export async function orphans({ read }: Db<object>, dataDir: string, removedIds: readonly number[]): Promise<string[]> {
  const giveUpAt = performance.now() + SWEEP_TIMEOUT_MS
  const isSwept = async () =>
    (await sql`select 1 from removed_repositories where is_swept = 0`.execute(read)).rows.length === 0
  while (!(await isSwept()) && performance.now() < giveUpAt) await sleep(SWEEP_POLL_MS)
  const { rows } = await sql<{ id: number }>`select id from projects`.execute(read)
  const ids = new Set(rows.map(({ id }) => id))
  const directory = join(dataDir, 'repositories')
  const names = existsSync(directory) ? readdirSync(directory) : []
  return [
    ...names.filter((name) => !ids.has(Number.parseInt(name, 10))).map((name) => `${name} belongs to no project`),
    ...removedIds.filter((id) => ids.has(id)).map((id) => `project ${id} was removed and is there`),
  ]
}

const run = promisify(execFile)

/** Git's own opinion of a repository and of what its branch contains; none where there is no Git. */
export async function repositoryFaults(dataDir: string, projectId: number, shas: readonly string[]): Promise<string[]> {
  const gitdir = join(dataDir, 'repositories', `${projectId}.git`)
  if (!existsSync(gitdir)) return shas.length === 0 ? [] : [`${gitdir} is gone`]
  const git = async (...args: string[]) =>
    (await run('git', ['--git-dir', gitdir, ...args], { timeout: 60_000 })).stdout
  try {
    const said = await git('fsck', '--full', '--strict', '--no-dangling', '--no-progress')
    const contained = new Set(shas.length === 0 ? [] : (await git('rev-list', 'main')).split('\n'))
    return [
      ...(said === '' ? [] : [`git fsck ${projectId}.git: ${said}`]),
      ...shas.filter((sha) => !contained.has(sha)).map((sha) => `commit ${sha} is not in main any more`),
    ]
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    return [`git on ${projectId}.git: ${(error as Error).message}`]
  }
}
