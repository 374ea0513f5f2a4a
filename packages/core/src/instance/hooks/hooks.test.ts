import { describe, expect, test } from 'vitest'
import type { DomainError } from '../../base/kit/domain-error.ts'
import { accessLevels } from '../../base/model/access-level.ts'
import { inProjectWorld, mira, project, world } from '../../identity/projects/project-world.harness.ts'
import {
  createHook,
  getProjectHook,
  listHooks,
  removeHook,
  removeHookHeader,
  removeHookUrlVariable,
  setHookHeader,
  setHookUrlVariable,
  updateProjectHook,
} from './hook-operations.ts'
import { findHook } from './hook-store.ts'

inProjectWorld('maintainer')

const url = 'https://ci.example.test/in'
const create = (draft: object = {}) => world.perform(mira, createHook, { project: project.id, url, ...draft })
const update = (hookId: number, draft: object = {}) =>
  world.perform(mira, updateProjectHook, { project: project.id, hookId, url, ...draft })
const on = (hookId: number, more: object = {}) => ({ project: project.id, hookId, ...more })
const failure = (error: DomainError) => error.failure
const secretsOf = async (id: number) =>
  (await findHook({ core: world.core, db: world.core.db.read, nowMs: 0 }, id))!.secrets

test('a hook has push events only, unless others are set, and shows no secret', async () => {
  const token = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
  const pairs = {
    urlVariables: [{ key: 'tenant', value: 'blue-secret' }],
    customHeaders: [{ key: 'X-Team', value: 'red-secret' }],
  }
  const hook = await create({ url: `${url}/{tenant}`, token: 'open-secret', signingToken: token, ...pairs })
  expect(hook).toMatchObject({
    url: 'https://ci.example.test/in/{tenant}',
    pushEvents: true,
    issuesEvents: false,
    enableSslVerification: true,
    branchFilterStrategy: 'wildcard',
    alertStatus: 'executable',
    urlVariableKeys: ['tenant'],
    customHeaderKeys: ['X-Team'],
    hasToken: true,
    hasSigningToken: true,
  })
  const stored = JSON.stringify(await world.core.db.read.selectFrom('hooks').selectAll().execute())
  const events = JSON.stringify(await world.core.db.read.selectFrom('events').selectAll().execute())
  for (const text of [JSON.stringify(hook), stored, events]) expect(text).not.toMatch(/secret"|-secret|whsec_/)
  expect((await world.perform(mira, listHooks, { project: project.id })).items).toEqual([hook])
  expect(await world.perform(mira, getProjectHook, on(hook.id))).toEqual(hook)
  const noor = await world.user('noor')
  await world.member(project, noor, accessLevels.developer)
  expect(await world.perform(noor, listHooks, { project: project.id }).catch(failure)).toEqual({ code: 'forbidden' })
})

describe('a new hook is refused', () => {
  test.each([
    [{ url: '' }, 'Invalid url given'],
    [{ url: 'ftp://ci.example.test' }, 'Invalid url given'],
    [{ url: 'https://-x.example.test' }, 'Invalid url given'],
    [{ url: `${url}/{tenant}` }, 'Invalid url given'],
    [{ url: '', pushEventsBranchFilter: 'a..b' }, 'Invalid url given'],
    [{ pushEventsBranchFilter: 'a..b', customHeaders: [{ key: 'X1b', value: 'a' }] }, 'Invalid branch filter given'],
    [{ pushEventsBranchFilter: '(', branchFilterStrategy: 'regex' }, 'Invalid branch filter given'],
    [{ pushEventsBranchFilter: '(a)\\1', branchFilterStrategy: 'regex' }, 'Invalid branch filter given'],
    [{ customHeaders: [{ key: 'X1b', value: 'a' }], token: 'a\nb' }, 'Custom headers must be a valid json schema'],
    [{ customHeaders: [{ key: 'X-A', value: '' }] }, 'Custom headers must be a valid json schema'],
    [{ token: 'a\nb' }, 'Token is invalid'],
    [{ token: 'a\nb', signingToken: 'whsec_AAAA' }, 'Token is invalid and Signing token is invalid'],
    [
      { token: 'a\nb', signingToken: 'x', urlVariables: [{ key: '-', value: 'a' }] },
      'Token is invalid, Signing token is invalid, and Url variables must be a valid json schema',
    ],
    [{ customWebhookTemplate: 'x'.repeat(4_097) }, 'Custom webhook template is too long (maximum is 4096 characters)'],
  ])('%j: %s', async (draft, message) => {
    expect(await create(draft).catch(failure)).toEqual({ code: 'unprocessable', message })
  })

  test('if the feature is missing, or the project has 100', async () => {
    expect(await create({ aiFlowCallbackEnabled: true }).catch(failure)).toEqual({
      code: 'refused',
      message: '400 Bad request - ai_flow_callback_enabled is not available for this namespace',
    })
    await create({ aiFlowCallbackEnabled: false })
    for (let count = 1; count < 100; count += 1) await create()
    expect(await create().catch(failure)).toEqual({
      code: 'unprocessable',
      message: 'Maximum number of project hooks (100) exceeded',
    })
  })
})

describe('an update', () => {
  test('keeps the token for the same URL, and clears it for another', async () => {
    const { id } = await create({ token: 'open' })
    expect(await update(id, { name: 'CI' })).toMatchObject({ name: 'CI', hasToken: true, pushEvents: true })
    expect(await update(id, { url: `${url}/b` })).toMatchObject({ hasToken: false })
    expect(await update(id, { url, token: 'open' })).toMatchObject({ hasToken: true })
  })

  test('clears the stored headers when the expanded URL changes, and keeps those of the request', async () => {
    const customHeaders = [
      { key: 'X-A', value: '1' },
      { key: 'X-B', value: '2' },
    ]
    const { id } = await create({ customHeaders })
    await update(id, { customHeaders: [{ key: 'X-B' }, { key: 'X-C', value: '3' }] })
    expect((await secretsOf(id)).customHeaders).toEqual({ 'X-A': '1', 'X-B': '2', 'X-C': '3' })
    await update(id, { customHeaders: [] })
    expect((await secretsOf(id)).customHeaders).toEqual({ 'X-A': '1', 'X-B': '2', 'X-C': '3' })
    await update(id, { url: `${url}/b`, customHeaders: [{ key: 'X-A' }, { key: 'X-B', value: '4' }] })
    expect((await secretsOf(id)).customHeaders).toEqual({ 'X-B': '4' })
    expect(await update(id, { customHeaders: [{ key: 'X-D' }] }).catch(failure)).toEqual({
      code: 'parameters',
      problems: [{ path: ['customHeaders', 0, 'value'], problem: 'missing' }],
    })
  })

  test('drops the stored variables for another host, and rejects a URL that uses one of them', async () => {
    const { id } = await create({ url: `${url}/{key}`, urlVariables: [{ key: 'key', value: 'k1' }] })
    await update(id, { url: `${url}/b/{key}` })
    expect((await secretsOf(id)).urlVariables).toEqual({ key: 'k1' })
    const elsewhere = 'https://other.example.test/{key}'
    expect(await update(id, { url: elsewhere }).catch(failure)).toEqual({
      code: 'unprocessable',
      message: 'Invalid url given',
    })
    await update(id, { url: elsewhere, urlVariables: [{ key: 'key', value: 'k2' }] })
    expect((await secretsOf(id)).urlVariables).toEqual({ key: 'k2' })
  })

  test('names errors by attribute', async () => {
    const { id } = await create()
    expect(await update(id, { token: 'a\nb' }).catch(failure)).toMatchObject({
      code: 'unprocessable',
      fields: { token: ['is invalid'] },
    })
    expect(await update(id, { customHeaders: [{ key: '-', value: 'a' }] }).catch(failure)).toEqual({
      code: 'unprocessable',
      message: 'Custom headers validation failed: must be a valid json schema',
    })
    expect(await update(id, { branchFilterStrategy: 'all_branches', pushEventsBranchFilter: 'a' })).toMatchObject({
      branchFilterStrategy: 'all_branches',
      pushEventsBranchFilter: undefined,
    })
  })
})

test('single headers and variables are set and removed', async () => {
  const { id } = await create({ url: `${url}/{key}`, urlVariables: [{ key: 'key', value: 'k1' }] })
  const perform = (operation: typeof setHookHeader, more: object) => world.perform(mira, operation, on(id, more))
  await perform(setHookHeader, { key: 'X-A', value: '1' })
  expect(await perform(setHookHeader, { key: 'X1b', value: '1' }).catch(failure)).toEqual({
    code: 'unprocessable',
    message: 'Illegal key or value',
  })
  expect(await perform(setHookHeader, { key: 'x'.repeat(256), value: '1' }).catch(failure)).toMatchObject({
    problems: [{ problem: 'too_long', max: 255 }],
  })
  await perform(setHookUrlVariable, { key: 'key', value: 'k2' })
  // The expanded URL has changed.
  expect(await secretsOf(id)).toMatchObject({ urlVariables: { key: 'k2' }, customHeaders: {} })
  const remove = (operation: typeof removeHookHeader, key: string) =>
    world.perform(mira, operation, on(id, { key })).catch(failure)
  expect(await remove(removeHookHeader, 'X-A')).toEqual({ code: 'not_found', what: 'Custom header' })
  expect(await remove(removeHookUrlVariable, 'key')).toEqual({
    code: 'unprocessable',
    message: 'Could not unset variable',
  })
  expect(await remove(removeHookUrlVariable, 'other')).toEqual({ code: 'not_found', what: 'URL variable' })
  await update(id, { url })
  expect(await remove(removeHookUrlVariable, 'key')).toBeUndefined()
})

test('a removed hook is returned, a missing one is not an error', async () => {
  const { id } = await create()
  const isOlder = { ifUnmodifiedSinceMs: world.clock.nowMs() - 1_000 }
  expect(await world.perform(mira, removeHook, on(id), isOlder).catch(failure)).toEqual({ code: 'changed_since' })
  expect(await world.perform(mira, removeHook, on(id))).toMatchObject({ id })
  expect(await world.perform(mira, removeHook, on(id))).toBeUndefined()
})
