import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { temporarySchema } from '@penstock/testkit'
import { expect, test } from 'vitest'
import { CoreProcess } from './core-process.ts'

const WRITERS = 50
/** The number of objects of each kind that each writer creates. */
const ROUNDS = 2
/** Each merge request has a pair of branches of its own; these are enough for all. */
const BRANCHES = 15
const kinds = ['issues', 'merge_requests', 'milestones'] as const

/** Runs on PostgreSQL if `PENSTOCK_TEST_DATABASE_URL` is set. */
test('50 concurrent writers to one project through two processes lose no write, and iids are unique without gaps', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'penstock-writers-'))
  const serverUrl = process.env.PENSTOCK_TEST_DATABASE_URL
  const schema = serverUrl ? await temporarySchema(serverUrl) : undefined
  const first = await CoreProcess.start(dataDir, { databaseUrl: schema?.location })
  const second = await CoreProcess.start(dataDir, { databaseUrl: schema?.location })
  const cores = [first, second]
  try {
    const project = { name: 'work', path: 'work', initialize_with_readme: true }
    const { id, default_branch, empty_repo } = await first.must('POST', '/projects', project)
    expect([default_branch, empty_repo]).toEqual(['main', false])
    const below = `/projects/${id}`
    for (let number = 0; number < BRANCHES; number += 1) {
      await first.must('POST', `${below}/repository/branches`, { branch: `b${number}`, ref: 'main' })
    }
    const counter = await first.must('POST', `${below}/issues`, { title: 'counted', labels: 'begun' })
    const created = { issues: [counter.iid], merge_requests: [], milestones: [] } as Record<string, number[]>
    const shas: string[] = []
    const titles: string[] = []

    const write = async (writer: number) => {
      const core = cores[writer % cores.length]!
      for (let round = 0; round < ROUNDS; round += 1) {
        const title = `${writer}-${round}`
        const number = writer * ROUNDS + round
        const source = number % BRANCHES
        const target = (source + 1 + Math.floor(number / BRANCHES)) % BRANCHES
        const branches = { source_branch: `b${source}`, target_branch: `b${target}` }
        for (const kind of kinds) {
          const { iid } = await core.must('POST', `${below}/${kind}`, {
            title,
            ...(kind === 'merge_requests' && branches),
          })
          created[kind]!.push(iid)
        }
        titles.push(title)
        // Every writer adds a label of its own to a shared issue.
        await core.must('PUT', `${below}/issues/${counter.iid}`, { add_labels: `by-${title}` })
      }
      const actions = [{ action: 'create', file_path: `files/${writer}`, content: `${writer}` }]
      const commit = { branch: 'main', commit_message: `by ${writer}`, actions }
      shas.push(await committed(core, below, commit))
    }
    await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)))

    const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)
    const all = WRITERS * ROUNDS
    for (const kind of kinds) {
      const total = kind === 'issues' ? all + 1 : all
      expect([kind, created[kind]!.toSorted((a, b) => a - b)]).toEqual([kind, upTo(total)])
      const listed = await pages(second, `${below}/${kind}?state=all&scope=all`)
      const kept = listed.map(({ title }) => title).filter((title) => title !== 'counted')
      expect([kind, kept.toSorted()]).toEqual([kind, titles.toSorted()])
    }
    const { labels } = await second.must('GET', `${below}/issues/${counter.iid}`)
    expect(labels.toSorted()).toEqual(['begun', ...titles.map((title) => `by-${title}`)].toSorted())
    const history = await pages(first, `${below}/repository/commits?ref_name=main`)
    expect(
      history
        .map(({ id: sha }) => sha)
        .slice(0, -1)
        .toSorted(),
    ).toEqual(shas.toSorted())
    expect(history.every(({ parent_ids }, index) => parent_ids[0] === history[index + 1]?.id)).toBe(true)
    expect(await pages(second, `${below}/repository/tree?path=files`)).toHaveLength(WRITERS)
  } finally {
    for (const core of cores) await core[Symbol.asyncDispose]()
    await schema?.remove()
    rmSync(dataDir, { recursive: true })
  }
}, 300_000)

/** Commits, and tries again while the answer is a conflict because the repository stayed locked for 30 s. */
async function committed(core: CoreProcess, project: string, commit: object): Promise<string> {
  for (;;) {
    const { status, json } = await core.call('POST', `${project}/repository/commits`, commit)
    if (status === 201) return json.id
    if (status !== 409) throw new Error(`${status} ${JSON.stringify(json)}`)
  }
}

// biome-ignore lint/suspicious/noExplicitAny: callers know the shape of the items
async function pages(core: CoreProcess, path: string): Promise<any[]> {
  const items = []
  for (let page = 1; ; page += 1) {
    const found = await core.must('GET', `${path}&per_page=100&page=${page}`)
    items.push(...found)
    if (found.length < 100) return items
  }
}
