import { World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { accessLevels } from '../access/access-level.ts'
import type { Group } from '../groups/group.ts'
import type { Project } from '../projects/project.ts'
import type { User } from '../users/user.ts'
import { groupVariables, projectVariables } from '../variables/variable-operations.ts'
import { exportSettingsFor, exportSettingsOf } from './export-settings.ts'
import { getPipelineExport } from './pipeline-operations.ts'

const EXPORT = 'SVC_OBSERVABILITY_EXPORT'
const TOKEN = 'SVC_OBSERVABILITY_TOKEN'
const variable = (key: string, value: string, more: object = {}) => ({
  key,
  value,
  type: 'env_var' as const,
  isMasked: false,
  isHidden: false,
  ...more,
})
const none = 'which is none of traces, metrics, logs'
const separated = `${EXPORT} separates words by blanks or semicolons: it has to be commas`
const unmasked = `${TOKEN} is not masked: logs of jobs may show it`

describe('what is to be exported', () => {
  test.each<[string, string[], string[]]>([
    ['traces', ['traces'], []],
    ['traces,metrics,logs', ['traces', 'metrics', 'logs'], []],
    [' LOGS , traces,,traces ', ['traces', 'logs'], []],
    ['', [], [`${EXPORT} is empty: nothing is exported`]],
    [' , ', [], [`${EXPORT} is empty: nothing is exported`]],
    ['spans,logs', ['logs'], [`${EXPORT} names spans, ${none}`]],
    ['glpat-4f1d77', [], [`${EXPORT} names something, ${none}`]],
    ['traces metrics logs', [], [separated]],
    ['traces;metrics', [], [separated]],
    ['canary one;two,logs,spans', ['logs'], [separated, `${EXPORT} names spans, ${none}`]],
    ['a,b,c,d,e,f,g', [], ['a', 'b', 'c', 'd', 'e'].map((word) => `${EXPORT} names ${word}, ${none}`)],
  ])('%j', (value, signals, warnings) => {
    expect(exportSettingsOf([variable(EXPORT, value)], 'svc')).toEqual({ signals, token: undefined, warnings })
  })

  test('a masked value is not repeated', () => {
    const { warnings } = exportSettingsOf([variable(EXPORT, 'canary', { isMasked: true })], 'svc')
    expect(warnings).toEqual([`${EXPORT} names something, ${none}`])
  })

  test('a file counts for nothing', () => {
    const given = [EXPORT, TOKEN].map((key) => variable(key, 'traces', { type: 'file' }))
    expect(exportSettingsOf(given, 'svc')).toEqual({
      signals: [],
      token: undefined,
      warnings: [EXPORT, TOKEN].map((key) => `${key} is of type file and ignored: its type has to be env_var`),
    })
  })

  test('the names follow the service', () => {
    expect(exportSettingsOf([variable('MY_FORGE_OBSERVABILITY_EXPORT', 'logs')], 'my-forge').signals).toEqual(['logs'])
    expect(exportSettingsOf([variable(EXPORT, 'logs')], 'gitlab').signals).toEqual([])
  })
})

test.each<[string, string | undefined, string[]]>([
  ['psin_abc', 'psin_abc', []],
  [' psin_abc\n', 'psin_abc', []],
  ['', undefined, [`${TOKEN} is empty: no credential is sent`]],
  ['can ary', undefined, [`${TOKEN} has characters that no header carries: no credential is sent`]],
])('the token %j', (value, token, warnings) => {
  expect(exportSettingsOf([variable(TOKEN, value, { isMasked: true })], 'svc')).toEqual({
    signals: [],
    token,
    warnings,
  })
})

test('a token that is not masked counts, and is warned of', () => {
  const { token, warnings } = exportSettingsOf([variable(TOKEN, 'canary')], 'svc')
  expect({ token, warnings }).toEqual({ token: 'canary', warnings: [unmasked] })
})

describe('of a project', () => {
  let world: World
  let mira: User
  let group: Group
  let project: Project

  beforeEach(async () => {
    world = await World.open()
    mira = await world.user('mira')
    group = await world.group('ops')
    project = await world.project('tools', group)
    await world.member(group, mira, accessLevels.owner)
  })

  afterEach(() => world.close())

  const ofProject = (key: string, value: string, more: object = {}) =>
    world.perform(mira, projectVariables.create, { parent: project.id, key, value, ...more })
  const settings = (environments: string[] = [], isProtectedRef = false) => {
    const context = { db: world.core.db.read, nowMs: world.clock.nowMs() }
    return exportSettingsFor(context, world.core, project, { environments, isProtectedRef })
  }

  test('the group’s count until the project says otherwise', async () => {
    const ofGroup = { parent: group.id, key: EXPORT, value: 'traces,logs' }
    expect(await settings()).toEqual({ signals: [], token: undefined, warnings: [] })
    await world.perform(mira, groupVariables.create, ofGroup)
    expect(await settings()).toMatchObject({ signals: ['traces', 'logs'] })
    await ofProject(EXPORT, 'metrics')
    await ofProject(TOKEN, 'psin_abcdefgh', { masked: true })
    expect(await settings()).toEqual({ signals: ['metrics'], token: 'psin_abcdefgh', warnings: [] })
  })

  test('what counts elsewhere only is told', async () => {
    await ofProject(EXPORT, 'logs', { environmentScope: 'review/*' })
    await ofProject(TOKEN, 'psin_abcdefgh', { protected: true, environmentScope: 'production' })
    expect(await settings()).toEqual({
      signals: [],
      token: undefined,
      warnings: [
        `${EXPORT} counts only in pipelines with a job in the environment review/*`,
        `${TOKEN} counts only on protected refs and in pipelines with a job in the environment production`,
      ],
    })
    expect(await settings(['review/x', 'production'], true)).toEqual({
      signals: ['logs'],
      token: 'psin_abcdefgh',
      warnings: [unmasked],
    })
  })

  test('is shown to Maintainers, the token apart', async () => {
    await ofProject(EXPORT, 'logs')
    await ofProject(TOKEN, 'psin_abcdefgh', { protected: true })
    const noor = await world.user('noor')
    await world.member(project, noor, accessLevels.developer)
    const show = (actor: User, more: object = {}) =>
      world.perform(actor, getPipelineExport, { project: project.id, ...more })
    expect(await show(mira, { refProtected: true })).toEqual({
      signals: ['logs'],
      hasToken: true,
      warnings: [unmasked],
    })
    expect(await show(mira)).toEqual({
      signals: ['logs'],
      hasToken: false,
      warnings: [`${TOKEN} counts only on protected refs`],
    })
    await expect(show(noor)).rejects.toMatchObject({ failure: { code: 'forbidden' } })
  })
})
