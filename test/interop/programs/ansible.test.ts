import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithProgram, preparedPaths } from '../prepared.ts'
import { CORE_URL, ProgramHost } from './program-host.ts'

const playbook = join(import.meta.dirname, 'ansible', 'playbook.yml')
const project = '/projects/platform%2Ftool-box'

/** The results of the tasks by name: `changed`, `ok`, or the message of a failure. */
type Results = Readonly<Record<string, string>>

describeWithProgram('ansible', ['ansibleIsComplete', 'ansibleCollections'], () => {
  let host: ProgramHost
  let first: Results
  let second: Results

  beforeAll(async () => {
    host = await ProgramHost.start()
    first = await play(host)
    second = await play(host)
  }, 300_000)

  afterAll(() => host.close())

  test('every task changes something once', () => {
    expect(first).toEqual(everyTask(first, 'changed'))
    expect(second).toEqual(everyTask(first, 'ok'))
  })

  test('the core holds what the playbook says', async () => {
    expect(await host.api('GET', '/groups/platform')).toMatchObject({
      name: 'Platform',
      description: 'Runs it',
      visibility: 'internal',
      project_creation_level: 'maintainer',
      subgroup_creation_level: 'maintainer',
    })
    expect(await host.api('GET', '/groups/platform%2Ftools')).toMatchObject({ full_name: 'Platform / Tools' })
    expect(await host.api('GET', project)).toMatchObject({
      name: 'Tool Box',
      description: 'Of use',
      default_branch: 'main',
      issues_enabled: true,
      wiki_enabled: false,
      merge_method: 'ff',
      topics: ['tools', 'boxes'],
    })
    expect(await host.api('GET', `${project}/repository/branches/fix`)).toMatchObject({ name: 'fix' })
    const member = (username: string, level: number) => expect.objectContaining({ username, access_level: level })
    expect(await host.api('GET', '/groups/platform/members')).toContainEqual(member('una', 30))
    expect(await host.api('GET', `${project}/members`)).toContainEqual(member('una', 40))
    expect(await host.api('GET', '/groups/platform/variables')).toMatchObject([
      { key: 'REGION', value: 'north' },
      { key: 'ACCESS_KEY', value: 'a-secret-value', masked: true, protected: true, environment_scope: 'production' },
    ])
    expect(await host.api('GET', `${project}/variables`)).toMatchObject([{ key: 'LEVEL', value: '3', raw: true }])
    expect(await host.api('GET', `${project}/labels`)).toMatchObject([
      { name: 'flaky', color: '#123456', description: 'Fails now and then', priority: 20 },
      { name: 'security', color: '#dd2222' },
    ])
    expect(await host.api('GET', '/groups/platform/milestones')).toMatchObject([
      { title: 'Spring', start_date: '2026-01-01', due_date: '2026-05-31' },
    ])
    expect(await host.api('GET', `${project}/milestones`)).toMatchObject([{ title: 'v1', description: 'The first' }])
    expect(await host.api('GET', `${project}/issues`)).toMatchObject([
      {
        title: 'Leak',
        labels: ['flaky', 'security'],
        assignees: [{ username: 'una' }],
        milestone: { title: 'Spring' },
      },
    ])
    expect(await host.api('GET', `${project}/merge_requests`)).toMatchObject([
      { title: 'Fix it', source_branch: 'fix', assignees: [{ username: 'una' }], force_remove_source_branch: true },
    ])
  })

  test('no request was refused', () => {
    expect(host.unserved()).toEqual([])
  })
})

const everyTask = (results: Results, result: string): Results =>
  Object.fromEntries(Object.keys(results).map((name) => [name, result]))

/** Runs the playbook. A failed task does not end it, so that one run shows every failure. */
async function play(host: ProgramHost): Promise<Results> {
  const { ansible, ansibleCollections } = preparedPaths()
  const variables = {
    ansible_python_interpreter: join(ansible, 'python'),
    api_url: CORE_URL,
    api_token: host.core.rootToken,
  }
  const args = ['--inventory', 'localhost,', '--extra-vars', JSON.stringify(variables), playbook]
  const env = {
    ANSIBLE_COLLECTIONS_PATH: ansibleCollections,
    ANSIBLE_LOCALHOST_WARNING: 'false',
    ANSIBLE_NOCOLOR: '1',
    ANSIBLE_LOCAL_TEMP: join(host.directory, 'ansible'),
  }
  const { stdout, stderr } = await host.run(join(ansible, 'ansible-playbook'), args, { env, limitMs: 240_000 })
  const results = [...stdout.matchAll(/^TASK \[(.+?)\] \*+\n([\s\S]*?)(?=^TASK|^PLAY)/gm)]
  if (results.length === 0) throw new Error(`ansible-playbook ran nothing: ${stdout}${stderr}`)
  return Object.fromEntries(
    results.map(([, name, said]) => [name!, /^(changed|ok): /m.exec(said!)?.[1] ?? said!.trim()]),
  )
}
