import { Gitlab } from '@gitbeaker/rest'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { describeWithProgram } from '../../../interop/prepared.ts'
import { GoWorld } from './go-world.ts'

describeWithProgram('client-go', ['goClient'], () => {
  let world: GoWorld
  let project: number

  beforeEach(async () => {
    world = await GoWorld.start()
    const { url, rootToken } = world.core
    project = (await new Gitlab({ host: url, token: rootToken }).Projects.create({ name: 'tools' })).id
  })

  afterEach(() => world.close())

  const call = (method: string, ...args: readonly unknown[]) =>
    world.asRoot(`ProjectSnippets.${method}`, project, ...args)

  test('creates, reads, changes and deletes snippets', async () => {
    const draft = { title: 'Rotate logs', visibility: 'internal', files: [{ file_path: 'a.sh', content: 'rotate' }] }
    const { status, result: made } = await call('CreateSnippet', draft)
    expect(status).toBe(201)
    expect(made).toMatchObject({ id: 1, title: 'Rotate logs', visibility: 'internal', file_name: 'a.sh' })
    expect((await call('ListSnippets', { page: 1, per_page: 5 })).result).toEqual([made])
    expect((await call('GetSnippet', 1)).result).toEqual(made)
    const files = [{ action: 'create', file_path: 'b.sh', content: 'more' }]
    const changed = await call('UpdateSnippet', 1, { title: 'Rotate', files })
    expect(changed.result).toMatchObject({ title: 'Rotate', files: [{ path: 'a.sh' }, { path: 'b.sh' }] })
    expect((await call('SnippetContent', 1)).result).toBe('rotate')
    expect(await call('CreateSnippet', { title: 'Half' })).toMatchObject({
      status: 400,
      error: '{error: files, content are missing, exactly one parameter must be provided}',
    })
    expect(await call('DeleteSnippet', 1)).toMatchObject({ status: 204 })
    expect(await call('GetSnippet', 1)).toMatchObject({ status: 404 })
  })
})
