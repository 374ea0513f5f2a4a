import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithProgram, preparedPaths } from '../prepared.ts'
import { CORE_URL, type Outcome, ProgramHost } from './program-host.ts'

const config = join(import.meta.dirname, 'gitlabform', 'config.yml')
const project = '/projects/platform%2Ftools'

describeWithProgram('gitlabform and gitlabber', ['gitlabformIsComplete'], () => {
  let host: ProgramHost

  const program = (name: string, ...args: string[]): Promise<Outcome> =>
    host.run(join(preparedPaths().gitlabform, name), args, { env: { GITLAB_TOKEN: host.core.rootToken } })

  beforeAll(async () => {
    host = await ProgramHost.start()
    for (const username of ['una', 'ada']) {
      const email = `${username}@example.test`
      await host.api('POST', '/users', { username, name: username, email, password: 'correct-horse-9' })
    }
    const group = (await host.api('POST', '/groups', {
      name: 'Platform',
      path: 'platform',
      visibility: 'internal',
    })) as {
      id: number
    }
    await host.api('POST', '/groups', { name: 'Deep', path: 'deep', parent_id: group.id })
    for (const path of ['tools', 'site']) {
      await host.api('POST', '/projects', { path, namespace_id: group.id, initialize_with_readme: true })
    }
  })

  afterAll(() => host.close())

  test('gitlabform applies its configuration, and changes nothing when it runs again', async () => {
    const first = await program('gitlabform', '--skip-version-check', '--config', config, 'ALL_DEFINED')
    expect(first.stdout + first.stderr).not.toMatch(/Warning|Error/)
    expect(first.code).toBe(0)
    expect(first.stdout).toContain('# of projects processed successfully: 2')
    const requests = host.calls.length
    expect(await program('gitlabform', '--skip-version-check', '--config', config, 'ALL_DEFINED')).toMatchObject({
      code: 0,
    })
    const writes = host.calls.slice(requests).filter(({ method }) => method !== 'GET')
    expect(writes.map(({ method, target }) => `${method} ${target}`)).toEqual([])
  })

  test('the core holds what the configuration says', async () => {
    expect(await host.api('GET', '/groups/platform')).toMatchObject({
      description: 'A group of gitlabform',
      project_creation_level: 'maintainer',
      default_branch: 'trunk',
    })
    const member = (username: string, level: number) => expect.objectContaining({ username, access_level: level })
    expect(await host.api('GET', '/groups/platform/members')).toContainEqual(member('una', 40))
    expect(await host.api('GET', '/groups/platform/variables')).toMatchObject([
      { key: 'REGION', value: 'south-region', masked: true },
    ])
    expect(await host.api('GET', '/groups/platform/labels')).toMatchObject([
      { name: 'security', color: '#dd2222', description: 'Has to be fixed' },
    ])
    expect(await host.api('GET', project)).toMatchObject({
      description: 'Set by gitlabform',
      visibility: 'internal',
      merge_method: 'ff',
      wiki_access_level: 'disabled',
      wiki_enabled: false,
      only_allow_merge_if_pipeline_succeeds: true,
      topics: ['tools', 'forms'],
    })
    expect(await host.api('GET', `${project}/labels?search=flaky`)).toMatchObject([{ name: 'flaky', color: '#123456' }])
    expect(await host.api('GET', `${project}/members`)).toMatchObject([
      { username: 'ada', access_level: 30, expires_at: '2026-12-31' },
    ])
    expect(await host.api('GET', `${project}/variables`)).toMatchObject([
      { key: 'LEVEL', value: '4', protected: true, environment_scope: 'production' },
    ])
    expect(await host.api('GET', `${project}/repository/files/docs%2Fwelcome.md?ref=main`)).toMatchObject({
      content: Buffer.from('Welcome to tools\n').toString('base64'),
    })
    expect(await host.api('GET', '/application/settings')).toMatchObject({
      default_project_visibility: 'internal',
      session_expire_delay: 600,
    })
  })

  test('gitlabber prints the tree of groups and projects', async () => {
    const options = ['--token', host.core.rootToken, '--url', CORE_URL, '--print', '--print-format', 'json']
    const { code, stdout, stderr } = await program('gitlabber', ...options, '--fail-fast', host.directory)
    expect({ code, stderr }).toMatchObject({ code: 0 })
    expect(JSON.parse(stdout)).toMatchObject({
      children: [
        {
          name: 'Platform',
          // They are in the order in which their answers arrived.
          children: expect.arrayContaining([
            expect.objectContaining({ name: 'site', type: 'project', root_path: '/Platform/site' }),
            expect.objectContaining({ name: 'tools', type: 'project', root_path: '/Platform/tools' }),
            expect.objectContaining({ name: 'Deep', type: 'subgroup', root_path: '/Platform/Deep' }),
          ]),
        },
      ],
    })
  })

  test('no request was refused', () => {
    expect(host.unserved()).toEqual([])
  })
})
