import type { World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { RestServer } from '../server/rest-server.harness.ts'
import { groupsArea } from './groups.ts'
import { issuesArea } from './issues.ts'
import { projectsArea } from './projects.ts'
import { usersArea } from './users.ts'

let world: World
let server: RestServer
let token: string

beforeEach(async () => {
  server = await RestServer.start({ areas: [usersArea, groupsArea, projectsArea, issuesArea] })
  world = server.world
  token = await server.tokenOf(await world.user('root', { isAdministrator: true }))
})
afterEach(() => server.close())

const call = (method: string, path: string, json?: object) => server.call(method, path, { token, json })
const project = async (json: object) => (await call('POST', 'projects', json)).body

describe('a project', () => {
  test('has the switches and settings of GitLab by default', async () => {
    expect(await project({ name: 'Tool' })).toMatchObject({
      issues_enabled: true,
      merge_requests_enabled: true,
      wiki_enabled: true,
      jobs_enabled: true,
      snippets_enabled: true,
      issues_access_level: 'enabled',
      builds_access_level: 'enabled',
      container_registry_enabled: false,
      pages_access_level: 'disabled',
      merge_method: 'merge',
      squash_option: 'default_off',
      only_allow_merge_if_pipeline_succeeds: false,
      remove_source_branch_after_merge: true,
      merge_commit_template: null,
      public_jobs: true,
      public_builds: true,
      build_timeout: 3600,
      topics: [],
      open_issues_count: 0,
      can_create_merge_request_in: true,
      import_status: 'none',
    })
  })

  test('returns the settings that it was created with and that were changed', async () => {
    const draft = {
      name: 'Tool',
      merge_method: 'ff',
      topics: 'ci, Tools,ci',
      wiki_enabled: false,
      emails_disabled: true,
    }
    const { id, ...created } = await project(draft)
    expect(created).toMatchObject({
      merge_method: 'ff',
      topics: ['ci', 'Tools'],
      tag_list: ['ci', 'Tools'],
      wiki_enabled: false,
      wiki_access_level: 'disabled',
      emails_enabled: false,
    })
    const changes = {
      squash_option: 'always',
      merge_commit_template: '%{title}',
      issues_access_level: 'private',
      tag_list: ['go'],
      ci_default_git_depth: 5,
      public_builds: false,
      ci_id_token_sub_claim_components: ['project_path'],
    }
    await call('PUT', `projects/${id}`, changes)
    expect((await call('GET', `projects/${id}`)).body).toMatchObject({
      merge_method: 'ff',
      squash_option: 'always',
      merge_commit_template: '%{title}',
      issues_access_level: 'private',
      issues_enabled: true,
      topics: ['go'],
      ci_default_git_depth: 5,
      public_jobs: false,
      ci_id_token_sub_claim_components: ['project_path'],
    })
    await call('PUT', `projects/${id}`, { merge_commit_template: '', description: '' })
    expect((await call('GET', `projects/${id}`)).body).toMatchObject({ merge_commit_template: null, description: '' })
  })

  test.each([
    [{ merge_method: 'octopus' }, { error: 'merge_method does not have a valid value' }],
    [{ build_timeout: 5 }, { error: 'build_timeout is invalid' }],
    [{ import_url: 'https://git.example.test/a.git' }, { error: 'import_url is not supported' }],
    [
      { repository_access_level: 'private' },
      {
        message: {
          merge_requests_access_level: ['cannot have higher visibility level than repository access level'],
          builds_access_level: ['cannot have higher visibility level than repository access level'],
        },
      },
    ],
  ])('rejects %j', async (changes, body) => {
    const { id } = await project({ name: 'Tool' })
    expect(await call('PUT', `projects/${id}`, changes)).toMatchObject({ status: 400, body })
  })

  test('gets a path from its name', async () => {
    expect(await project({ name: 'Ünïcode & Straße.js' })).toMatchObject({ path: 'unicode-strasse-js' })
  })

  test('answers 403 for a disabled feature, and has no link to it', async () => {
    const { id } = await project({ name: 'Tool', issues_enabled: false })
    expect(await call('GET', `projects/${id}/issues`)).toMatchObject({
      status: 403,
      body: { message: '403 Forbidden' },
    })
    const { body } = await call('GET', `projects/${id}`)
    expect(Object.keys(body._links)).toEqual(['self', 'merge_requests', 'repo_branches', 'labels', 'members'])
    expect(body).not.toHaveProperty('open_issues_count')
  })
})

describe('the list of projects', () => {
  beforeEach(async () => {
    await project({ name: 'Alpha', topics: ['ci', 'go'] })
    await project({ name: 'Beta', topics: ['ci'], issues_enabled: false })
    const { id } = await project({ name: 'Gamma' })
    await call('POST', `projects/${id}/archive`)
    world.clock.advance(1_000)
  })

  test.each([
    ['topic=CI', ['Alpha', 'Beta']],
    ['topic=ci,go', ['Alpha']],
    ['with_issues_enabled=true', ['Alpha', 'Gamma']],
    ['active=true', ['Alpha', 'Beta']],
    ['active=false', ['Gamma']],
    ['starred=true', []],
    ['imported=true', []],
    ['repository_storage=default', ['Alpha', 'Beta', 'Gamma']],
    ['repository_storage=other', []],
    ['search=root/b&search_namespaces=true', ['Beta']],
    ['search=alp&order_by=similarity', ['Alpha']],
    ['updated_after=2026-02-03T04:05:07Z', []],
    ['statistics=true&with_custom_attributes=true', ['Alpha', 'Beta', 'Gamma']],
    ['order_by=storage_size', ['Alpha', 'Beta', 'Gamma']],
    ['order_by=star_count', ['Alpha', 'Beta', 'Gamma']],
  ])('%s', async (filter, names) => {
    const { status, body } = await call('GET', `projects?sort=asc&${filter}`)
    expect([status, body.map(({ name }: { name: string }) => name)]).toEqual([200, names])
  })

  test.each(['with_programming_language=go', 'topic_id=1', 'custom_attributes[a]=b', 'wiki_checksum_failed=true'])(
    'refuses %s',
    async (filter) => {
      const name = filter.split(/[=[]/)[0]
      expect(await call('GET', `projects?${filter}`)).toMatchObject({
        status: 400,
        body: { error: `${name} is not supported` },
      })
    },
  )

  test('in the simple form has no settings', async () => {
    const { body } = await call('GET', 'projects?simple=true')
    expect(body[0]).toHaveProperty('path_with_namespace')
    expect(body[0]).not.toHaveProperty('issues_enabled')
  })
})
