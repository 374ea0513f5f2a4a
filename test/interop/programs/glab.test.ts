import { afterAll, beforeAll, expect, test } from 'vitest'
import { describeWithProgram } from '../prepared.ts'
import { Glab } from './glab.ts'
import { ProgramHost } from './program-host.ts'
import { expectSameFields } from './same-fields.ts'

const project = '/projects/ops%2Ftools'

describeWithProgram('glab', ['glab'], () => {
  let host: ProgramHost
  let glab: Glab

  beforeAll(async () => {
    host = await ProgramHost.start()
    await host.api('POST', '/groups', { name: 'Ops', path: 'ops', visibility: 'internal' })
    glab = new Glab(host, 'ops/tools')
  })

  afterAll(() => host.close())

  const comments = (of: string) => host.api('GET', `${project}/${of}/notes?activity_filter=only_comments`)

  test('auth status', async () => {
    expect(await glab.said('auth', 'status')).toContain('Logged in to gitlab.example.test as root')
  })

  test('api', async () => {
    expectSameFields(await glab.json('api', 'user'), await host.api('GET', '/user'))
  })

  test('repo create, list and view', async () => {
    const options = ['--description', 'Of use', '--readme', '--internal', '--tag', 'boxes']
    expect(await glab.said('repo', 'create', 'ops/tools', ...options)).toContain('Created repository Ops / tools')
    const held = (await host.api('GET', project)) as Record<string, unknown>
    expect(held).toMatchObject({ description: 'Of use', visibility: 'internal', default_branch: 'main' })
    expectSameFields(await glab.json('repo', 'view', 'ops/tools', '--output', 'json'), held, ['permissions'])
    expectSameFields(await glab.json('repo', 'list', '--all', '--output', 'json'), await host.api('GET', '/projects'), [
      'permissions',
    ])
    expectSameFields(
      await glab.json('repo', 'list', '--group', 'ops', '--output', 'json'),
      await host.api('GET', '/groups/ops/projects'),
      ['permissions'],
    )
  })

  test('label create and list', async () => {
    await glab.said('label', 'create', '--name', 'flaky', '--color', '#ff0000', '--description', 'Fails now and then')
    await glab.said('label', 'create', '--name', 'urgent', '--color', 'red')
    expectSameFields(await glab.json('label', 'list', '--output', 'json'), await host.api('GET', `${project}/labels`))
  })

  test('variable set, get, update, list, export and delete', async () => {
    await glab.said('variable', 'set', 'KEY', 'first-value', '--masked', '--scope', 'production')
    expect(await glab.said('variable', 'get', 'KEY', '--scope', 'production')).toContain('first-value')
    await glab.said('variable', 'update', 'KEY', 'second-value', '--masked', '--scope', 'production')
    const held = await host.api('GET', `${project}/variables`)
    expect(held).toMatchObject([{ key: 'KEY', value: 'second-value', masked: true, environment_scope: 'production' }])
    expectSameFields(await glab.json('variable', 'list', '--output', 'json'), held)
    expectSameFields(await glab.json('variable', 'export'), held)
    await glab.said('variable', 'delete', 'KEY', '--scope', 'production')
    await glab.said('variable', 'set', 'REGION', 'north', '--group', 'ops')
    expectSameFields(
      await glab.json('variable', 'list', '--group', 'ops', '--output', 'json'),
      await host.api('GET', '/groups/ops/variables'),
    )
  })

  test('issue create, list, view, update, close and reopen', async () => {
    const draft = ['--title', 'Leak', '--description', 'It drips', '--label', 'flaky', '--assignee', 'root']
    const more = ['--due-date', '2026-03-01', '--weight', '2', '--confidential']
    expect(await glab.said('issue', 'create', ...draft, ...more, '--yes')).toContain('/ops/tools/-/issues/1')
    const held = (await host.api('GET', `${project}/issues/1`)) as Record<string, unknown>
    expect(held).toMatchObject({
      title: 'Leak',
      labels: ['flaky'],
      due_date: '2026-03-01',
      weight: 2,
      confidential: true,
    })
    expectSameFields(await glab.json('issue', 'view', '1', '--output', 'json'), held)
    const listed = await glab.json('issue', 'list', '--label', 'flaky', '--output', 'json')
    expectSameFields(listed, await host.api('GET', `${project}/issues?labels=flaky`))
    expect(await glab.json('issue', 'list', '--not-label', 'flaky', '--output', 'json')).toEqual([])
    await glab.said('issue', 'update', '1', '--title', 'Big leak', '--unlabel', 'flaky', '--label', 'urgent')
    expect(await host.api('GET', `${project}/issues/1`)).toMatchObject({ title: 'Big leak', labels: ['urgent'] })
    await glab.said('issue', 'close', '1')
    expect(await glab.json('issue', 'list', '--output', 'json')).toEqual([])
    expect(await host.api('GET', `${project}/issues/1`)).toMatchObject({ state: 'closed' })
    await glab.said('issue', 'reopen', '1')
    expect(await host.api('GET', `${project}/issues/1`)).toMatchObject({ state: 'opened' })
  })

  test('mr create, list, view, update, diff, close and reopen', async () => {
    await host.api('POST', `${project}/repository/commits`, {
      branch: 'fix',
      start_branch: 'main',
      commit_message: 'Fix it',
      actions: [{ action: 'create', file_path: 'fix.txt', content: 'fixed\n' }],
    })
    const draft = ['--title', 'Fix it', '--description', 'Stops the leak', '--label', 'flaky', '--assignee', 'root']
    await glab.said('mr', 'create', '--source-branch', 'fix', '--target-branch', 'main', ...draft, '--yes')
    const details = 'include_diverged_commits_count=true&include_rebase_in_progress=true'
    const held = await host.api('GET', `${project}/merge_requests/1?${details}`)
    expect(held).toMatchObject({ title: 'Fix it', source_branch: 'fix', target_branch: 'main', labels: ['flaky'] })
    expectSameFields(await glab.json('mr', 'view', '1', '--output', 'json'), held, ['Notes', 'Approvers'])
    expectSameFields(
      await glab.json('mr', 'list', '--label', 'flaky', '--output', 'json'),
      await host.api('GET', `${project}/merge_requests?labels=flaky`),
    )
    await glab.said('mr', 'update', '1', '--title', 'Fix the leak', '--draft')
    expect(await host.api('GET', `${project}/merge_requests/1`)).toMatchObject({ title: 'Draft: Fix the leak' })
    expect(await glab.said('mr', 'diff', '1')).toContain('+fixed')
    await glab.said('mr', 'close', '1')
    expect(await glab.json('mr', 'list', '--output', 'json')).toEqual([])
    await glab.said('mr', 'reopen', '1')
    expect(await host.api('GET', `${project}/merge_requests/1`)).toMatchObject({ state: 'opened' })
  })

  test('issue note', async () => {
    await glab.said('issue', 'note', '1', '--message', 'Still dripping')
    expect(await comments('issues/1')).toMatchObject([{ body: 'Still dripping', author: { username: 'root' } }])
    expect(await glab.said('issue', 'view', '1', '--comments')).toContain('Still dripping')
  })

  test('mr note, approve, approvers, revoke and merge', async () => {
    await glab.said('mr', 'update', '1', '--ready')
    await glab.said('mr', 'note', '1', '--message', 'Looks good')
    expect(await comments('merge_requests/1')).toMatchObject([{ body: 'Looks good', author: { username: 'root' } }])
    await glab.said('mr', 'approve', '1')
    expect(await host.api('GET', `${project}/merge_requests/1/approvals`)).toMatchObject({
      approved: true,
      approved_by: [{ user: { username: 'root' } }],
    })
    expect(await glab.said('mr', 'approvers', '1')).toContain('merge request !1 eligible approvers')
    await glab.said('mr', 'revoke', '1')
    expect(await host.api('GET', `${project}/merge_requests/1/approvals`)).toMatchObject({ approved_by: [] })
    await glab.said('mr', 'merge', '1', '--yes', '--remove-source-branch')
    expect(await host.api('GET', `${project}/merge_requests/1`)).toMatchObject({ state: 'merged' })
    expect(await host.api('GET', `${project}/repository/branches`)).toMatchObject([{ name: 'main' }])
  })

  test('release create, list, view and delete', async () => {
    const link = [{ name: 'Manual', url: 'https://files.example.test/manual' }]
    const options = ['--name', 'First', '--notes', 'Watertight', '--ref', 'main']
    await glab.said('release', 'create', 'v1', ...options, '--assets-links', JSON.stringify(link))
    expect(await host.api('GET', `${project}/releases/v1`)).toMatchObject({
      name: 'First',
      description: 'Watertight',
      assets: { links: link },
    })
    expect(await glab.said('release', 'list')).toContain('First')
    expect(await glab.said('release', 'view', 'v1')).toContain('Watertight')
    await glab.said('release', 'delete', 'v1', '--yes', '--with-tag')
    expect(await host.api('GET', `${project}/releases`)).toEqual([])
    expect(await host.api('GET', `${project}/repository/tags`)).toEqual([])
  })

  test('ci list, status, get and trace', async () => {
    const { id } = (await host.api('GET', `${project}/repository/commits/main`)) as { id: string }
    await host.api('PUT', `${project}/pipeline_records/31`, {
      object_attributes: { id: 31, status: 'failed', ref: 'main', sha: id, source: 'push', duration: 63 },
      project: { id: 1, path_with_namespace: 'ops/tools' },
      builds: [
        { id: 380, name: 'compile', stage: 'build', status: 'success' },
        { id: 382, name: 'unit', stage: 'test', status: 'failed', failure_reason: 'script_failure' },
      ],
    })
    expectSameFields(await glab.json('ci', 'list', '--output', 'json'), await host.api('GET', `${project}/pipelines`))
    const status = await glab.said('ci', 'status', '--branch', 'main')
    expect(status).toMatch(/\(failed\).*unit/)
    expect(status).toMatch(/\(success\).*compile/)
    const details = await glab.json('ci', 'get', '--branch', 'main', '--output', 'json')
    expectSameFields(details, await host.api('GET', `${project}/pipelines/31`), ['jobs', 'variables'])
    expectSameFields((details as { jobs: unknown }).jobs, await host.api('GET', `${project}/pipelines/31/jobs`))
    expect(await glab.said('ci', 'trace', '382')).toContain('unit')
    expect(host.calls.some(({ target, status }) => target.endsWith('/jobs/382/trace') && status === 200)).toBe(true)
  })

  test('incident list and note, and the issues of a merge request', async () => {
    await host.api('POST', `${project}/issues`, { title: 'Flood', issue_type: 'incident' })
    expect(await glab.said('incident', 'list')).toContain('Flood')
    await glab.said('incident', 'note', '2', '--message', 'Pumping')
    expect(await comments('issues/2')).toMatchObject([{ body: 'Pumping' }])
    await glab.said('incident', 'close', '2')
    expect(await host.api('GET', `${project}/issues/2`)).toMatchObject({ state: 'closed', issue_type: 'incident' })
    await host.api('PUT', `${project}/merge_requests/1`, { description: 'Closes #1' })
    expect(await glab.said('mr', 'issues', '1')).toContain('Big leak')
  })

  test('token create, list, rotate and revoke', async () => {
    const options = ['--access-level', 'developer', '--scope', 'read_api', '--output', 'json']
    const created = await glab.json('token', 'create', 'robot', ...options)
    const [listed] = (await host.api('GET', `${project}/access_tokens`)) as { readonly id: number }[]
    expectSameFields(created, listed, ['token', 'last_used_at'])
    expect(await glab.json('token', 'list', '--output', 'json')).toMatchObject([{ id: listed!.id, name: 'robot' }])
    await glab.said('token', 'rotate', 'robot', '--duration', '720h')
    await glab.said('token', 'revoke', 'robot')
    expect(await host.api('GET', `${project}/access_tokens?state=active`)).toEqual([])
  })

  test('nothing of this was refused', () => {
    expect(host.unserved()).toEqual([])
  })
})
