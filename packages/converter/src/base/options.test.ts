import { describe, expect, test } from 'vitest'
import { type ConvertOptionsInput, OptionError, optionTable, profiles, resolveOptions } from './options.ts'

/** The documented defaults. */
const defaults = {
  resourceServiceName: undefined,
  environment: 'production',
  vendorNamespace: 'svc',
  providerName: 'svc',
  instanceId: undefined,
  project: undefined,
  idScheme: 'hashed',
  spanNames: 'semconv',
  spanKind: 'semconv',
  successStatus: 'ok',
  canceledAsError: false,
  statusMessage: 'none',
  refinedResults: false,
  metricsMode: 'per-run',
  bounds: 'native',
  runState: 'executing',
  pendingPoint: false,
  refLabel: 'all',
  multiProject: 'link',
  stageSpans: false,
  steps: true,
  extensions: true,
  extraAttributes: false,
  skipNeverRan: false,
  exportBlocked: false,
  exportUnknown: false,
  bridgeSource: 'auto',
  reexport: 'none',
  eventNames: false,
  user: 'include',
  commitMessage: 'include',
}

/** Resolves options of any type, as a caller without TypeScript may pass them. */
const resolve = (given: Record<string, unknown>) => resolveOptions(given as ConvertOptionsInput)

test('the defaults', () => {
  expect(resolveOptions()).toEqual(defaults)
  expect(resolveOptions({})).toEqual(defaults)
  expect(resolveOptions({ profile: 'default' })).toEqual(defaults)
})

test('the table contains every option with a description', () => {
  expect(Object.keys(optionTable)).toEqual(Object.keys(defaults))
  for (const { about } of Object.values(optionTable)) expect(about).not.toBe('')
})

test('uses the given values, and defaults for the rest', () => {
  const given = { environment: 'staging', bounds: [1, 2.5, 10], refLabel: '^main$', user: 'hash' } as const
  expect(resolveOptions(given)).toEqual({ ...defaults, ...given })
})

describe('profiles', () => {
  test('native', () => {
    expect(resolveOptions({ profile: 'native' })).toEqual({
      ...defaults,
      idScheme: 'native',
      spanNames: 'native',
      spanKind: 'internal',
      canceledAsError: true,
      statusMessage: 'reason',
      runState: 'finalizing',
      extensions: false,
    })
  })

  test('strict', () => {
    expect(resolveOptions({ profile: 'strict' })).toEqual({ ...defaults, successStatus: 'unset', refinedResults: true })
  })

  test('every profile sets known options to values in range', () => {
    for (const profile of Object.values(profiles)) expect(() => resolve(profile)).not.toThrow()
  })

  test('given options override the profile, in any order', () => {
    expect(resolveOptions({ spanKind: 'semconv', profile: 'native' }).spanKind).toBe('semconv')
    expect(resolveOptions({ profile: 'native', spanKind: 'semconv' }).spanKind).toBe('semconv')
    expect(resolveOptions({ profile: 'native', extensions: true }).extensions).toBe(true)
  })

  test('undefined overrides neither a default nor a profile', () => {
    expect(resolveOptions({ environment: undefined, profile: undefined })).toEqual(defaults)
    expect(resolveOptions({ profile: 'native', spanKind: undefined }).spanKind).toBe('internal')
  })

  test('unknown', () => {
    expect(() => resolve({ profile: 'gitlab' })).toThrow('option profile: must be one of default, native, strict')
    expect(() => resolve({ profile: 'constructor' })).toThrow(OptionError)
  })
})

describe('refusals', () => {
  test.each(['spanname', 'encoding', '', 'constructor', 'toString', '__proto__'])(
    'refuses an unknown option %j',
    (name) => {
      const given = Object.fromEntries([[name, true]])
      expect(() => resolve(given)).toThrow(OptionError)
      expect(() => resolve(given)).toThrow(`option ${name}: no such option`)
    },
  )

  test.each([
    ['canceledAsError', 'true', 'must be true or false'],
    ['canceledAsError', 1, 'must be true or false'],
    ['canceledAsError', null, 'must be true or false'],
    ['idScheme', 'padded', 'must be one of hashed, native'],
    ['metricsMode', 'delta', 'must be one of per-run, windowed, cumulative'],
    ['environment', '', 'must be a text that is not blank'],
    ['environment', '  ', 'must be a text that is not blank'],
    ['environment', 7, 'must be a text that is not blank'],
    ['vendorNamespace', 'Svc', 'must match ^[a-z][a-z0-9_]*$'],
    ['vendorNamespace', 'svc.', 'must match ^[a-z][a-z0-9_]*$'],
    ['vendorNamespace', '9svc', 'must match ^[a-z][a-z0-9_]*$'],
    ['refLabel', '(', 'must be all or a regular expression'],
    ['refLabel', 7, 'must be all or a regular expression'],
    ['bounds', 'coarse', 'must be native, fine or up to 200 ascending numbers above 0'],
    ['bounds', [], 'must be native, fine or up to 200 ascending numbers above 0'],
    ['bounds', [0, 1], 'must be native, fine or up to 200 ascending numbers above 0'],
    ['bounds', [1, 1], 'must be native, fine or up to 200 ascending numbers above 0'],
    ['bounds', [2, 1], 'must be native, fine or up to 200 ascending numbers above 0'],
    ['bounds', [1, Number.NaN], 'must be native, fine or up to 200 ascending numbers above 0'],
    ['bounds', [1, Number.POSITIVE_INFINITY], 'must be native, fine or up to 200 ascending numbers above 0'],
    ['bounds', ['1', '2'], 'must be native, fine or up to 200 ascending numbers above 0'],
    [
      'bounds',
      Array.from({ length: 201 }, (_, i) => i + 1),
      'must be native, fine or up to 200 ascending numbers above 0',
    ],
  ])('refuses for %s the value %j', (name, value, reason) => {
    expect(() => resolve({ [name]: value })).toThrow(`option ${name}: ${reason}`)
  })

  test('the error has the option, so that callers can print the flag', () => {
    try {
      resolve({ user: 'mask' })
      expect.unreachable()
    } catch (error) {
      expect(error).toMatchObject({ name: 'OptionError', option: 'user' })
    }
  })

  test('accepts 200 bounds', () => {
    const bounds = Array.from({ length: 200 }, (_, i) => i + 0.5)
    expect(resolveOptions({ bounds }).bounds).toEqual(bounds)
  })
})
