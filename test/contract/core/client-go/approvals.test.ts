import { Gitlab } from '@gitbeaker/rest'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { describeWithProgram } from '../../../interop/prepared.ts'
import { GoWorld } from './go-world.ts'

describeWithProgram('client-go', ['goClient'], () => {
  let world: GoWorld
  let project: number

  beforeEach(async () => {
    world = await GoWorld.start()
    const root = new Gitlab({ host: world.core.url, token: world.core.rootToken })
    project = (await root.Projects.create({ name: 'tools' })).id
    await root.RepositoryFiles.create(project, 'a.md', 'main', 'x', 'Add a.md')
    await root.Branches.create(project, 'fix', 'main')
    await root.MergeRequests.create(project, 'fix', 'main', 'Fix')
  })

  afterEach(() => world.close())

  test('approves a merge request, and takes the approval back', async () => {
    const call = (method: string, ...args: readonly unknown[]) =>
      world.asRoot(`MergeRequestApprovals.${method}`, project, 1, ...args)
    expect(await call('ApproveMergeRequest', { sha: 'f'.repeat(40) })).toMatchObject({ status: 409 })
    const approved = await call('ApproveMergeRequest', {})
    expect(approved).toMatchObject({ status: 201, result: { approved: true, user_has_approved: true } })
    expect((await call('GetConfiguration')).result).toEqual(approved.result)
    expect(await call('GetApprovalState')).toMatchObject({ status: 200, result: { rules: [] } })
    expect(await call('UnapproveMergeRequest')).toMatchObject({ status: 201 })
    expect(await call('UnapproveMergeRequest')).toMatchObject({ status: 404 })
    expect(await call('ResetApprovalsOfMergeRequest')).toMatchObject({ status: 401 })
  })
})
