import { createHash } from 'node:crypto'
import { people, projects } from './company.ts'
import { runs } from './runs.ts'
import { HOUR_MS, historyKey, type SampleCommit } from './sample-commits.ts'
import type { SampleWorld } from './sample-hooks.ts'

/** Returns a world at that time, with a history of each branch and tag that has a commit for each run. */
export function sampleWorld(nowMs: number): SampleWorld {
  const histories = new Map<string, SampleCommit[]>()
  for (const { project, ref = 'main', title, hoursAgo } of runs) {
    const key = historyKey(project, ref)
    const history = histories.get(key) ?? [{ sha: 'a'.repeat(40), title: 'First', parentSha: undefined, atMs: 0 }]
    const sha = createHash('sha1').update(`${key}\n${title}`).digest('hex')
    const commit = { sha, title, parentSha: history[0]?.sha, atMs: nowMs - hoursAgo * HOUR_MS }
    histories.set(key, history.some((each) => each.sha === sha) ? history : [commit, ...history])
  }
  return {
    nowMs,
    externalUrl: 'https://svc.example.test',
    projectIds: new Map(projects.map(({ path }, index) => [path, index + 1])),
    userIds: new Map(people.map(({ username }, index) => [username, index + 1])),
    histories,
  }
}
