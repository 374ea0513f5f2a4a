import {
  createCommit,
  createIssue,
  groupMilestones,
  groupVariables,
  projectMilestones,
  type User,
} from '@penstock/core'
import { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { putRecord } from '../areas/ci/put-record.harness.ts'
import { GraphqlServer } from '../http/graphql-server.harness.ts'

let server: GraphqlServer
let root: User
let sha: string

beforeEach(async () => {
  const world = await World.open({ externalUrl: 'https://host.example.test/ci' })
  server = await GraphqlServer.start({}, world)
  root = await world.user('root', { isAdministrator: true })
  const acme = await world.group('acme')
  const app = await world.project('app', acme)
  const actions = [{ action: 'create', filePath: 'src/a b.ts', content: 'start()\n' }]
  const branch = { project: app.id, branch: 'top/main', commitMessage: 'Begin', actions }
  sha = (await world.perform(root, createCommit, branch)).sha
  await world.perform(root, createIssue, { project: app.id, title: 'Slow' })
  const draft = { project: app.id, title: 'Faster', sourceBranch: 'fast', targetBranch: 'top/main' }
  await world.mergeRequest(root, draft)
  await world.perform(root, projectMilestones.create, { parent: app.id, title: 'Spring' })
  await world.perform(root, groupMilestones.create, { parent: acme.id, title: 'Summer' })
  await world.perform(root, groupVariables.create, { parent: acme.id, key: 'A_KEY', value: 'value' })
  const builds = [{ id: 501, name: 'compile', stage: 'build', status: 'success' }]
  await putRecord(world, root, app, 31, { sha, ref: 'top/main' }, { builds })
  const upstream = { project: { id: app.id, pathWithNamespace: 'acme/app' }, pipelineId: 31, jobId: 501 }
  await putRecord(world, root, app, 32, { ref: 'main', source: 'parent_pipeline' }, { sourcePipeline: upstream })
})
afterEach(() => server.close())

const ask = async (query: string) => {
  const { body } = await server.ask(query, { as: root })
  expect(body.errors).toBeUndefined()
  return body.data
}

test('prefixes addresses of users, groups and projects with the path of the service', async () => {
  const at = (path: string) => ({ webPath: `/ci/${path}`, webUrl: `https://host.example.test/ci/${path}` })
  expect(
    await ask(`{
      currentUser { webPath webUrl namespace { webPath webUrl } }
      group(fullPath: "acme") { webPath webUrl editPath milestones { nodes { webPath } } }
      project(fullPath: "acme/app") {
        webPath webUrl editPath httpUrlToRepo milestones { nodes { webPath } }
        issue { webPath webUrl }
        mergeRequest(iid: "1") { webPath webUrl targetBranchPath }
        inheritedCiVariables { nodes { groupCiCdSettingsPath } }
      }
    }`),
  ).toEqual({
    currentUser: { ...at('root'), namespace: at('root') },
    group: {
      ...at('groups/acme'),
      editPath: '/ci/groups/acme/-/edit',
      milestones: { nodes: [{ webPath: '/ci/groups/acme/-/milestones/1' }] },
    },
    project: {
      ...at('acme/app'),
      editPath: '/ci/acme/app/edit',
      httpUrlToRepo: 'https://host.example.test/ci/acme/app.git',
      milestones: { nodes: [{ webPath: '/ci/acme/app/-/milestones/1' }] },
      issue: at('acme/app/-/issues/1'),
      mergeRequest: {
        ...at('acme/app/-/merge_requests/1'),
        targetBranchPath: '/ci/acme/app/-/tree/top/main',
      },
      inheritedCiVariables: { nodes: [{ groupCiCdSettingsPath: '/ci/groups/acme/-/settings/ci_cd' }] },
    },
  })
})

test('prefixes addresses of commits, files, pipelines and jobs with the path of the service', async () => {
  const { project } = await ask(`{ project(fullPath: "acme/app") {
    repository {
      commit(ref: "top/main") { webPath webUrl }
      blobs(paths: ["src/a b.ts"], ref: "top/main") { nodes { webPath rawPath } }
    }
    pipeline(id: "gid://svc/Ci::Pipeline/31") {
      path refText commitPath detailedStatus { detailsPath }
      stages { nodes { detailedStatus { detailsPath } groups { nodes { detailedStatus { detailsPath } } } } }
      jobs { nodes { webPath refPath commitPath detailedStatus { detailsPath } } }
    }
    downstream: pipeline(id: "gid://svc/Ci::Pipeline/32") { triggeredByPath }
  } }`)
  const commitPath = `/ci/acme/app/-/commit/${sha}`
  const stageStatus = { detailedStatus: { detailsPath: '/ci/acme/app/-/pipelines/31#build' } }
  expect(project).toEqual({
    repository: {
      commit: { webPath: commitPath, webUrl: `https://host.example.test${commitPath}` },
      blobs: {
        nodes: [
          {
            webPath: '/ci/acme/app/-/blob/top/main/src/a%20b.ts',
            rawPath: '/ci/acme/app/-/raw/top/main/src/a%20b.ts',
          },
        ],
      },
    },
    pipeline: {
      path: '/ci/acme/app/-/pipelines/31',
      refText: 'for branch <a href="/ci/acme/app/-/commits/top/main">top/main</a>',
      commitPath,
      detailedStatus: { detailsPath: '/ci/acme/app/-/pipelines/31' },
      stages: { nodes: [{ ...stageStatus, groups: { nodes: [stageStatus] } }] },
      jobs: {
        nodes: [
          {
            webPath: '/ci/acme/app/-/jobs/501',
            refPath: '/ci/acme/app/-/commits/top/main',
            commitPath,
            detailedStatus: { detailsPath: '/ci/acme/app/-/jobs/501' },
          },
        ],
      },
    },
    downstream: { triggeredByPath: '/ci/acme/app/-/pipelines/31' },
  })
})
