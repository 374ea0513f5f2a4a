import { World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { accessLevels } from '../../base/model/access-level.ts'
import type { Group } from '../../base/model/group.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import { groupVariables, projectVariables } from '../variables/variable-operations.ts'
import { loadExportSettings, parseExportSettings } from './export-settings.ts'
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
const valid = 'valid signals are traces, metrics, logs'
const separated = `${EXPORT} must separate signals by commas, not by blanks or semicolons`
const unmasked = `${TOKEN} is not masked, so job logs may contain it: mask the variable`

describe('the signals', () => {
  test.each<[string, string[], string[]]>([
    ['traces', ['traces'], []],
    ['traces,metrics,logs', ['traces', 'metrics', 'logs'], []],
    [' LOGS , traces,,traces ', ['traces', 'logs'], []],
    ['', [], [`${EXPORT} is empty: nothing is exported`]],
    [' , ', [], [`${EXPORT} is empty: nothing is exported`]],
    ['spans,logs', ['logs'], [`${EXPORT} contains spans: ${valid}`]],
    ['glpat-4f1d77', [], [`${EXPORT} contains an unknown value: ${valid}`]],
    ['traces metrics logs', [], [separated]],
    ['traces;metrics', [], [separated]],
    ['canary one;two,logs,spans', ['logs'], [separated, `${EXPORT} contains spans: ${valid}`]],
    ['a,b,c,d,e,f,g', [], ['a', 'b', 'c', 'd', 'e'].map((word) => `${EXPORT} contains ${word}: ${valid}`)],
  ])('are read from %j', (value, signals, warnings) => {
    expect(parseExportSettings([variable(EXPORT, value)], 'svc')).toEqual({ signals, token: undefined, warnings })
  })

  test('a warning does not contain a masked value', () => {
    const { warnings } = parseExportSettings([variable(EXPORT, 'canary', { isMasked: true })], 'svc')
    expect(warnings).toEqual([`${EXPORT} contains an unknown value: ${valid}`])
  })

  test('a variable of type file is ignored', () => {
    const given = [EXPORT, TOKEN].map((key) => variable(key, 'traces', { type: 'file' }))
    expect(parseExportSettings(given, 'svc')).toEqual({
      signals: [],
      token: undefined,
      warnings: [EXPORT, TOKEN].map((key) => `${key} is ignored because its type is file: change the type to env_var`),
    })
  })

  test('the variable names begin with the name of the service', () => {
    expect(parseExportSettings([variable('MY_FORGE_OBSERVABILITY_EXPORT', 'logs')], 'my-forge').signals).toEqual([
      'logs',
    ])
    expect(parseExportSettings([variable(EXPORT, 'logs')], 'gitlab').signals).toEqual([])
  })
})

test.each<[string, string | undefined, string[]]>([
  ['psin_abc', 'psin_abc', []],
  [' psin_abc\n', 'psin_abc', []],
  ['', undefined, [`${TOKEN} is empty: no credential is sent`]],
  ['can ary', undefined, [`${TOKEN} has characters that a header cannot contain: no credential is sent`]],
])('the token is read from %j', (value, token, warnings) => {
  expect(parseExportSettings([variable(TOKEN, value, { isMasked: true })], 'svc')).toEqual({
    signals: [],
    token,
    warnings,
  })
})

test('a token that is not masked is used, with a warning', () => {
  const { token, warnings } = parseExportSettings([variable(TOKEN, 'canary')], 'svc')
  expect({ token, warnings }).toEqual({ token: 'canary', warnings: [unmasked] })
})

describe('the settings of a project', () => {
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
    return loadExportSettings(context, world.core, project, { environments, isProtectedRef })
  }

  test('are those of its group, unless the project has its own', async () => {
    const ofGroup = { parent: group.id, key: EXPORT, value: 'traces,logs' }
    expect(await settings()).toEqual({ signals: [], token: undefined, warnings: [] })
    await world.perform(mira, groupVariables.create, ofGroup)
    expect(await settings()).toMatchObject({ signals: ['traces', 'logs'] })
    await ofProject(EXPORT, 'metrics')
    await ofProject(TOKEN, 'psin_abcdefgh', { masked: true })
    expect(await settings()).toEqual({ signals: ['metrics'], token: 'psin_abcdefgh', warnings: [] })
  })

  test('contain a warning about variables that do not apply', async () => {
    await ofProject(EXPORT, 'logs', { environmentScope: 'review/*' })
    await ofProject(TOKEN, 'psin_abcdefgh', { protected: true, environmentScope: 'production' })
    expect(await settings()).toEqual({
      signals: [],
      token: undefined,
      warnings: [
        `${EXPORT} applies only in pipelines with a job in the environment review/*`,
        `${TOKEN} applies only on protected refs and in pipelines with a job in the environment production`,
      ],
    })
    expect(await settings(['review/x', 'production'], true)).toEqual({
      signals: ['logs'],
      token: 'psin_abcdefgh',
      warnings: [unmasked],
    })
  })

  test('are shown to Maintainers, without the token', async () => {
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
      warnings: [`${TOKEN} applies only on protected refs`],
    })
    await expect(show(noor)).rejects.toMatchObject({ failure: { code: 'forbidden' } })
  })
})
