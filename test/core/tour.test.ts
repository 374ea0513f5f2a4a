import { createRequire } from 'node:module'
import { join } from 'node:path'
import { expect } from 'vitest'
import { temporaryDirectory } from '../cli/temporary-directory.ts'
import { runShell, shellBlocks, testWithCurl } from '../page-commands.ts'
import { CoreProcess, ROOT_TOKEN } from './core-process.ts'

const bin = createRequire(import.meta.url).resolve('@penstock/cli/bin/penstock.mjs')

testWithCurl(
  'the commands of the core tour, the first steps and the GraphQL introduction work as documented',
  async () => {
    const tour = shellBlocks('docs/guides/tour.md', '## A tour of the core', '### The sample workspace')
    const firstSteps = shellBlocks('docs/guides/core.md', '## First steps', '## Calling the API')
    const record = shellBlocks('docs/guides/core.md', '## Pipelines', '### What a record contains')
    const [first = '', json = '', changes = ''] = shellBlocks(
      'docs/guides/graphql.md',
      '## Ten minutes',
      '## The endpoint',
    )
    expect([tour.length, firstSteps.length, record.length]).toEqual([2, 4, 1])
    await using directory = await temporaryDirectory()
    const dataDir = join(directory.path, 'data')
    await using core = await CoreProcess.start(dataDir)
    const { origin, host } = new URL(core.url)
    // Other objects exist before, as with the sample workspace.
    const other = await core.must('POST', '/groups', { name: 'Other', path: 'other' })
    await core.must('POST', `/groups/${other.id}/milestones`, { title: 'Autumn' })
    await core.must('POST', '/users', {
      ...{ username: 'noor', name: 'Noor', email: 'noor@example.test', force_random_password: true },
    })

    const script = [...tour, ...firstSteps, ...record, first, json, changes]
      .join('')
      .replaceAll('http://127.0.0.1:8080', origin)
      .replaceAll('npx penstock', `node ${bin}`)
    const variables = { PRIVATE_TOKEN: ROOT_TOKEN, PENSTOCK_DATA_DIR: dataDir, PENSTOCK_CORE_LISTEN: host }
    const { exitCode, stdout } = await runShell(script, variables, directory.path)
    expect(exitCode).toBe(0)

    const answers = stdout
      .split('\n')
      .filter((line) => /^[[{]/.test(line))
      .map((line) => JSON.parse(line))
    const [
      root,
      group,
      project,
      milestone,
      issue,
      closed,
      burndown,
      ,
      commits,
      token,
      member,
      signedIn,
      garden,
      run,
      ...ofGraphql
    ] = answers
    expect([root.username, group.full_path, project.path_with_namespace]).toEqual(['root', 'ops', 'ops/tools'])
    expect([milestone.group_id, issue.iid, issue.milestone.id]).toEqual([group.id, 1, milestone.id])
    expect(closed.state).toBe('closed')
    expect(burndown.map(({ action }: { action: string }) => action)).toEqual(['created', 'closed'])
    expect(commits.map(({ title }: { title: string }) => title)).toEqual(['Notes', 'Initial commit'])
    expect(token).toMatchObject({ user_id: member.id, token: expect.stringMatching(/^svcpat-/) })
    expect(member).toMatchObject({ username: 'mira', access_level: 30 })
    expect([signedIn.username, garden.path_with_namespace]).toEqual(['mira', 'mira/garden'])
    expect(run).toMatchObject({ id: 31, project_id: project.id, status: 'success', ref: 'main' })
    const [who, issues, , batch, created, refused] = ofGraphql
    expect([who.data.currentUser.username, issues.data.project.issues.nodes[0].title]).toEqual(['root', 'Late frost'])
    expect(batch.map(({ data }: { data: object }) => data)).toEqual([
      { echo: '"root" says: one' },
      { echo: '"root" says: two' },
    ])
    expect(created.data.createIssue).toEqual({ issue: { iid: '2' }, errors: [] })
    expect([refused.data.createIssue, refused.errors.length]).toEqual([null, 1])
    expect(answers).toHaveLength(20)

    expect(stdout).toMatch(/^ok {4}\S+core\.db is up to date: its schema is \w+$/m)
    expect(stdout).toMatch(/^[0-9a-f]{64}\nsvcoas-[0-9a-f]{64}\nsvccbt-[0-9A-Za-z]{43}$/m)
  },
)
