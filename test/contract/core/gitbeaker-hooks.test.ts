import { Gitlab } from '@gitbeaker/rest'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { RunningCore } from './running-core.ts'

let core: RunningCore
let root: InstanceType<typeof Gitlab>
let project: number

beforeEach(async () => {
  core = await RunningCore.start()
  root = new Gitlab({ host: core.url, token: core.rootToken })
  project = (await root.Projects.create({ name: 'tools' })).id
})

afterEach(() => core.close())

const url = 'https://ci.example.test/in'
const failure = (error: { cause?: { description?: string; response?: Response } }) => [
  error.cause?.response?.status,
  error.cause?.description,
]

test('hooks are created, listed, read, changed and deleted', async () => {
  const { ProjectHooks } = root
  const made = await ProjectHooks.add(project, url, { issuesEvents: true, pushEvents: false, token: 'secret' })
  expect(made).toMatchObject({
    ...{ url, project_id: project, issues_events: true, push_events: false, enable_ssl_verification: true },
    ...{ alert_status: 'executable', token_present: true },
  })
  expect(JSON.stringify(made)).not.toContain('secret')
  expect(await ProjectHooks.all(project)).toEqual([made])
  expect(await ProjectHooks.show(project, made.id)).toEqual(made)
  const edited = await ProjectHooks.edit(project, made.id, url, {
    jobEvents: true,
    pushEventsBranchFilter: 'release/*',
  })
  expect(edited).toEqual({ ...made, job_events: true, push_events_branch_filter: 'release/*' })
  await ProjectHooks.remove(project, made.id)
  await ProjectHooks.remove(project, made.id)
  expect(await ProjectHooks.all(project)).toEqual([])
  expect(await ProjectHooks.show(project, made.id).catch(failure)).toEqual([404, '404 Not found'])
})

test('refused URLs are errors with the texts of the interface', async () => {
  const { ProjectHooks } = root
  const { id } = await ProjectHooks.add(project, url)
  expect(await ProjectHooks.add(project, 'http://127.0.0.1/').catch(failure)).toEqual([422, 'Invalid url given'])
  expect(await ProjectHooks.edit(project, id, 'ftp://ci.example.test/').catch(failure)).toEqual([
    422,
    'Invalid url given',
  ])
})
