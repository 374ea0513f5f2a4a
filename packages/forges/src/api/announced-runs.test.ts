import { describe, expect, test } from 'vitest'
import { fixtureBodies } from '../forge-fixtures.harness.ts'
import { type ForgeName, forges } from '../forges.ts'
import type { AnnouncedRun, ForgeApi } from './rest-api.ts'

const apiOf = (forge: ForgeName): ForgeApi => (forges[forge] as { api?: ForgeApi }).api!

const announced: Readonly<Record<string, AnnouncedRun & { readonly forge: ForgeName; readonly body?: number }>> = {
  'github-job-hooks-then-run-hook': {
    forge: 'github',
    reference: { project: 'ferrous-labs/anvil', run: '18400000102', attempt: 1 },
    serverUrl: 'https://github.com',
  },
  'gitea-job-hooks-then-run-hook': {
    forge: 'gitea',
    reference: { project: 'pottery/wheel', run: '501', attempt: undefined },
    serverUrl: 'https://gitea.example.com',
  },
  'forgejo-success': {
    forge: 'forgejo',
    reference: { project: 'weavers/loom', run: '701' },
    serverUrl: 'https://forgejo.example.org',
  },
  'circleci-workflow-hook': {
    forge: 'circleci',
    reference: { project: 'github/kiln-works/glaze-mixer', run: '869fe274-c752-41c8-b6c2-638f936c9502' },
    serverUrl: 'https://app.circleci.com',
  },
  'buildkite-build-hook': {
    forge: 'buildkite',
    reference: { project: 'kiln-works/furnace', run: '502' },
    serverUrl: 'https://api.buildkite.com',
  },
  'azure-hook-of-version-1': {
    forge: 'azure',
    reference: { project: '83405a31-f659-4a63-b487-06a10201b120', run: '3008' },
    serverUrl: 'https://dev.azure.com/kiln-works',
  },
  'azure-hook-of-version-2': {
    forge: 'azure',
    reference: { project: '83405a31-f659-4a63-b487-06a10201b120', run: '3007' },
    serverUrl: 'https://dev.azure.com/kiln-works',
  },
  'bitbucket-commit-status-hook-before-the-pipeline': {
    forge: 'bitbucket',
    reference: { project: 'kiln-works/shelf', run: '78' },
    serverUrl: 'https://bitbucket.org',
    body: 0,
  },
  'jenkins-notification-of-a-multibranch-build': {
    forge: 'jenkins',
    reference: { project: 'kiln-works/wheel/feature%2Fslow-start', run: '14' },
    serverUrl: 'https://ci.example.com/jenkins',
  },
  'drone-hook-with-its-system': {
    forge: 'drone',
    reference: { project: 'kiln-works/clay', run: '88' },
    serverUrl: 'https://drone.example.com',
  },
}

test.each(Object.entries(announced))('%s announces its run', (fixture, { forge, body = -1, ...run }) => {
  const [found] = fixtureBodies(`${fixture}.json`)
  expect(apiOf(forge).findRun?.(found!.bodies.at(body)!)).toEqual(run)
})

test('the job of an earlier attempt belongs to that attempt', () => {
  const hook = { workflow_job: { id: 1, run_id: 7, run_attempt: 2 }, repository: { full_name: 'a/b' } }
  expect(apiOf('github').findRun?.(hook)?.reference).toEqual({ project: 'a/b', run: '7', attempt: 2 })
})

test('the older page of a Bitbucket pipeline names its number, too', () => {
  const url = 'https://bitbucket.org/a/b/addon/pipelines/home#!/results/42'
  const found = apiOf('bitbucket').findRun?.({ commit_status: { url } })
  expect(found?.reference).toEqual({ project: 'a/b', run: '42' })
})

test('a build of Jenkins that has not ended is not announced', () => {
  const build = { full_url: 'https://ci.example.com/job/a/1/', number: 1, phase: 'COMPLETED' }
  expect(apiOf('jenkins').findRun?.({ build })).toBeUndefined()
})

test('a pipeline of Bitbucket that is still running is not announced', () => {
  const commit_status = { url: 'https://bitbucket.org/a/b/pipelines/results/42', state: 'INPROGRESS' }
  expect(apiOf('bitbucket').findRun?.({ commit_status })).toBeUndefined()
})

test.each(['github', 'gitea', 'forgejo', 'circleci', 'buildkite', 'azure', 'bitbucket', 'drone', 'gitlab'] as const)(
  '%s: another hook announces no run',
  (forge) => expect(apiOf(forge).findRun?.({ ref: 'refs/heads/main' })).toBeUndefined(),
)

test.each(['100%25', '100%'])('a project of Azure with a percent sign in its name: %s', (name) => {
  const url = `https://dev.azure.com/acme/${name}/_apis/build/Builds/7`
  expect(apiOf('azure').findRun?.({ resource: { url } })?.reference.project).toBe('100%')
})

describe('the URL of the API', () => {
  test.each<[ForgeName, string, string]>([
    ['github', 'https://github.com', 'https://api.github.com/'],
    ['github', 'https://api.github.com', 'https://api.github.com/'],
    ['github', 'https://octo.ghe.com', 'https://api.octo.ghe.com/'],
    ['github', 'https://ghes.example.com', 'https://ghes.example.com/api/v3'],
    ['github', 'https://ghes.example.com/api/v3/', 'https://ghes.example.com/api/v3'],
    ['gitea', 'https://gitea.example.com/git/', 'https://gitea.example.com/git/api/v1'],
    ['forgejo', 'https://codeberg.org', 'https://codeberg.org/api/v1'],
    ['gitlab', 'https://gitlab.example.com', 'https://gitlab.example.com/api/v4'],
    ['circleci', 'https://app.circleci.com', 'https://circleci.com/api/v2'],
    ['circleci', 'https://circleci.example.com', 'https://circleci.example.com/api/v2'],
    ['buildkite', 'https://buildkite.com', 'https://api.buildkite.com/v2'],
    ['azure', 'https://dev.azure.com/acme/', 'https://dev.azure.com/acme'],
    ['bitbucket', 'https://bitbucket.org', 'https://api.bitbucket.org/2.0'],
    ['woodpecker', 'https://ci.example.com', 'https://ci.example.com/api'],
    ['drone', 'https://drone.example.com', 'https://drone.example.com/api'],
    ['jenkins', 'https://ci.example.com/jenkins/', 'https://ci.example.com/jenkins'],
  ])('%s: %s → %s', (forge, server, url) => {
    expect(apiOf(forge).apiUrl(new URL(server)).href).toBe(url)
  })
})

test.each<[ForgeName, string, Readonly<Record<string, string>>]>([
  ['github', 't', { authorization: 'Bearer t' }],
  ['gitea', 't', { authorization: 'token t' }],
  ['gitlab', 't', { 'private-token': 't' }],
  ['circleci', 't', { 'circle-token': 't' }],
  ['azure', 't', { authorization: 'Basic OnQ=' }],
  ['bitbucket', 't', { authorization: 'Bearer t' }],
  ['bitbucket', 'u:t', { authorization: 'Basic dTp0' }],
  ['jenkins', 'u:t', { authorization: 'Basic dTp0' }],
])('%s: the token %s', (forge, token, headers) => {
  expect(apiOf(forge).credentials(token)).toEqual(headers)
})
