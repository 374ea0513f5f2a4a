import { recordInput } from '@penstock/testkit'
import { expect, test } from 'vitest'
import {
  createFeatureFlag,
  removeFeatureFlag,
  updateFeatureFlag,
} from '../../ci/feature-flags/feature-flag-operations.ts'
import { createUserList, removeUserList, updateUserList } from '../../ci/feature-flags/user-list-operations.ts'
import { putPipelineRecord, removePipeline } from '../../ci/pipelines/pipeline-operations.ts'
import { removeProject, updateProject } from '../../code/projects/project-operations.ts'
import { createBranch, removeBranch } from '../../code/repositories/branch-operations.ts'
import { createCommit } from '../../code/repositories/commit-operations.ts'
import { createTag, removeTag } from '../../code/repositories/tag-operations.ts'
import { addOwnEmail, removeOwnEmail } from '../../identity/accounts/email-operations.ts'
import { removeUser, updateUser } from '../../identity/accounts/user-operations.ts'
import { projectDeployTokens } from '../../identity/deploy-tokens/deploy-token-operations.ts'
import { projectMembers } from '../../identity/namespaces/member-operations.ts'
import { inProjectWorld, mira, project, world } from '../../identity/projects/project-world.harness.ts'
import { createGeoNode, removeGeoNode, updateGeoNodeSettings } from '../../instance/geo-nodes/geo-node-operations.ts'
import { createIssue, removeIssue, updateIssue } from '../../work/issues/issue-operations.ts'
import { createMergeRequest, removeMergeRequest } from '../../work/merge-requests/merge-request-operations.ts'
import { projectMilestones } from '../../work/milestones/milestone-operations.ts'
import { createReleaseLink, removeReleaseLink, updateReleaseLink } from '../../work/releases/release-links.ts'
import { createRelease, removeRelease, updateRelease } from '../../work/releases/release-operations.ts'
import type { DomainError } from '../kit/domain-error.ts'
import type { User } from '../model/user.ts'
import type { InputSchema, Operation } from './operation.ts'

inProjectWorld('owner')

const run = <Input extends InputSchema, Result>(
  operation: Operation<Input, Result>,
  input: object = {},
  actor = mira,
) => world.perform(actor, operation, { project: project.id, parent: project.id, ...input })

/** Returns a removal that a caller who knows the state at a time tries. */
const removal =
  (operation: Operation, input: object = {}, actor = mira) =>
  (ifUnmodifiedSinceMs: number) =>
    world.perform(actor, operation, { project: project.id, parent: project.id, ...input }, { ifUnmodifiedSinceMs })

const later = () => world.clock.advance(1_000)
const administrator = (): Promise<User> => world.user('root', { isAdministrator: true })

async function commitToMain(): Promise<void> {
  const actions = [{ action: 'create', filePath: 'README.md', content: 'x' }]
  await run(createCommit, { branch: 'main', commitMessage: 'Add', actions })
}

/** Creates `v1`, and changes it a second later. */
async function releaseChangedLater(): Promise<void> {
  await commitToMain()
  await run(createRelease, { tagName: 'v1', ref: 'main' })
  await later()
  await run(updateRelease, { tagName: 'v1', name: 'One' })
}

/** Each row makes an object, changes it if it can be changed, and returns its removal. The clock then shows the time of the last change. */
const rows: [what: string, prepare: () => Promise<(ifUnmodifiedSinceMs: number) => Promise<unknown>>][] = [
  [
    'an issue',
    async () => {
      const { iid } = await run(createIssue, { title: 'Leak' })
      await later()
      await run(updateIssue, { issueIid: iid, title: 'Leaks' })
      return removal(removeIssue, { issueIid: iid })
    },
  ],
  [
    'a merge request',
    async () => {
      await commitToMain()
      await run(createBranch, { branch: 'feature', ref: 'main' })
      const merge = { title: 'A', sourceBranch: 'feature', targetBranch: 'main' }
      const { iid } = await run(createMergeRequest, merge)
      return removal(removeMergeRequest, { mergeRequestIid: iid })
    },
  ],
  [
    'a pipeline',
    async () => {
      const objectAttributes = { id: 7, ref: 'main', status: 'success' }
      await run(putPipelineRecord, recordInput({ pipelineId: 7, objectAttributes }))
      return removal(removePipeline, { pipelineId: 7 })
    },
  ],
  [
    'a milestone',
    async () => {
      const { id } = await run(projectMilestones.create, { title: 'v1' })
      await later()
      await run(projectMilestones.update, { milestoneId: id, title: 'v2' })
      return removal(projectMilestones.remove, { milestoneId: id })
    },
  ],
  [
    'a release',
    async () => {
      await releaseChangedLater()
      return removal(removeRelease, { tagName: 'v1' })
    },
  ],
  [
    'a link of a release',
    async () => {
      await releaseChangedLater()
      const { id } = await run(createReleaseLink, { tagName: 'v1', name: 'Guide', url: 'https://docs.example.test/' })
      await later()
      await run(updateReleaseLink, { tagName: 'v1', linkId: id, name: 'Manual' })
      return removal(removeReleaseLink, { tagName: 'v1', linkId: id })
    },
  ],
  [
    'a feature flag',
    async () => {
      await run(createFeatureFlag, { name: 'beta' })
      await later()
      await run(updateFeatureFlag, { featureFlagName: 'beta', active: false })
      return removal(removeFeatureFlag, { featureFlagName: 'beta' })
    },
  ],
  [
    'a user list of feature flags',
    async () => {
      const { iid } = await run(createUserList, { name: 'testers', userXids: '1' })
      await later()
      await run(updateUserList, { iid, name: 'testers', userXids: '2' })
      return removal(removeUserList, { iid })
    },
  ],
  [
    'a deploy token',
    async () => {
      const { id } = await run(projectDeployTokens.create, { name: 'deploy', scopes: ['read_repository'] })
      return removal(projectDeployTokens.remove, { tokenId: id })
    },
  ],
  [
    'a member',
    async () => {
      const noor = await world.user('noor')
      await run(projectMembers.add, { userId: noor.id, accessLevel: 30 })
      return removal(projectMembers.remove, { userId: noor.id })
    },
  ],
  [
    'an e-mail address',
    async () => {
      const { id } = await run(addOwnEmail, { email: 'mira@work.example.test' })
      return removal(removeOwnEmail, { emailId: id })
    },
  ],
  [
    'a project',
    async () => {
      await later()
      await run(updateProject, { description: 'Tools' })
      return removal(removeProject)
    },
  ],
  [
    'a user',
    async () => {
      const [root, noor] = [await administrator(), await world.user('noor')]
      await later()
      await run(updateUser, { user: noor.id, name: 'Noor' }, root)
      return removal(removeUser, { user: noor.id }, root)
    },
  ],
  [
    'a geo node',
    async () => {
      const root = await administrator()
      const { id } = await run(createGeoNode, { name: 'oslo', url: 'https://oslo.example.test' }, root)
      await later()
      await run(updateGeoNodeSettings, { geoNodeId: id, enabled: false }, root)
      return removal(removeGeoNode, { geoNodeId: id }, root)
    },
  ],
]

test.each(rows)('%s that changed later than the caller knows is not removed', async (_, prepare) => {
  const remove = await prepare()
  const changedAtMs = world.clock.nowMs()
  await later()
  expect(await remove(changedAtMs - 1).catch(({ failure }: DomainError) => failure)).toEqual({ code: 'changed_since' })
  await remove(changedAtMs)
  expect(await remove(changedAtMs).catch(({ failure }: DomainError) => failure.code)).toMatch(
    /^(?:not_found|forbidden)$/,
  )
})

test('a branch and a tag are not removed if their commit is newer than the caller knows', async () => {
  await commitToMain()
  await run(createBranch, { branch: 'feature', ref: 'main' })
  await run(createTag, { tagName: 'v1', ref: 'main', message: 'one' })
  // Commits have whole seconds.
  const committed = Math.floor(world.clock.nowMs() / 1_000) * 1_000
  for (const remove of [removal(removeTag, { tagName: 'v1' }), removal(removeBranch, { branch: 'feature' })]) {
    expect(await remove(committed - 1).catch(({ failure }: DomainError) => failure)).toEqual({ code: 'changed_since' })
    await remove(committed)
  }
})
