import { can } from '../../base/access/can.ts'
import { standingOf } from '../../base/access/subject.ts'
import type { InProject } from '../../base/operations/context.ts'
import { describedThings } from '../../base/operations/description-store.ts'
import { type Commit, commitOfProject } from '../../code/repositories/commit.ts'
import { findProjectRepository } from '../../code/repositories/project-repository.ts'
import { findUsers } from '../../identity/users/user-store.ts'
import { issueCountsByMilestone } from '../issues/issue-list-store.ts'
import { findMilestones } from '../milestones/milestone-store.ts'
import type { Release, ReleaseMilestone, ReleaseRecord } from './release.ts'
import { linksOfReleases, milestonesByRelease } from './release-store.ts'

/** Returns releases as the actor sees them. Reads the repository, so never call it in a transaction. */
export async function shownReleases(context: InProject, records: readonly ReleaseRecord[]): Promise<Release[]> {
  const { subject: project } = context
  const standing = await standingOf(context, context.actor, project)
  const showsCode = can(standing, 'read_repository')
  const ids = records.map(({ id }) => id)
  const authors = await findUsers(
    context,
    records.flatMap(({ authorId }) => authorId ?? []),
  )
  const links = await linksOfReleases(context, ids)
  const milestonesOf = await milestonesShown(context, await milestonesByRelease(context, ids))
  const commits = showsCode ? await commitsOf(context, records) : new Map<string, Commit>()
  return records.map((record) => ({
    ...record,
    projectPath: project.fullPath,
    projectSlug: project.path,
    author: authors.get(record.authorId ?? 0),
    links: links
      .filter(({ releaseId }) => releaseId === record.id)
      .map((link) => ({ ...link, tag: record.tag, projectPath: project.fullPath })),
    milestones: milestonesOf(record.id),
    commit: commits.get(record.sha),
    showsCode,
    mayUpdate: can(standing, 'write_release'),
  }))
}

async function milestonesShown(
  context: InProject,
  byRelease: ReadonlyMap<number, readonly number[]>,
): Promise<(releaseId: number) => ReleaseMilestone[]> {
  const ids = [...new Set([...byRelease.values()].flat())]
  const found = [...(await findMilestones(context, ids)).values()]
  const described = await describedThings(context, 'milestones', found)
  const counts = await issueCountsByMilestone(context, context.actor, ids)
  return (releaseId) =>
    byRelease.get(releaseId)!.flatMap((id) => {
      const milestone = described.get(id)
      return milestone === undefined ? [] : [{ ...milestone, opened: 0, closed: 0, ...counts.get(id) }]
    })
}

/** Returns the commits of releases that the repository still has, by id. */
async function commitsOf(
  { core, subject: project }: InProject,
  records: readonly ReleaseRecord[],
): Promise<Map<string, Commit>> {
  const commits = new Map<string, Commit>()
  const repository = records.length === 0 ? undefined : await findProjectRepository(core, project)
  if (repository === undefined) return commits
  for (const sha of new Set(records.map((record) => record.sha))) {
    if ((await repository.git.commitNamedBy(sha)) !== sha) continue
    commits.set(sha, commitOfProject(project, { oid: sha, ...(await repository.git.shownCommit(sha)) }))
  }
  return commits
}
