import { type Core, type SettingValues, settingRows, type User } from '@penstock/core'
import { type Listening, listen } from '@penstock/http'
import { areas, restListener } from '@penstock/rest'
import { silentLog } from '@penstock/runtime'
import { World } from '@penstock/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ExpectedSetting, expectedSettings } from './expected-settings.ts'

let world: World
let root: User
let listening: Listening

const serve = (core: Core) =>
  listen(
    // The caller is fixed, because some settings change how callers are identified.
    restListener({ core, areas, log: silentLog, rateLimits: 'off', authenticate: async () => ({ actor: root }) }),
    { host: '127.0.0.1', port: 0 },
  )

beforeAll(async () => {
  world = await World.open()
  root = await world.user('root', { isAdministrator: true })
  listening = await serve(world.core)
})

afterAll(async () => {
  await listening.close(AbortSignal.abort())
  await world.close()
})

async function call(json?: object, { url } = listening): Promise<readonly [number, Readonly<Record<string, unknown>>]> {
  const reply = await fetch(`${url}/api/v4/application/settings`, {
    method: json === undefined ? 'GET' : 'PUT',
    ...(json && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(json) }),
  })
  return [reply.status, (await reply.json()) as Readonly<Record<string, unknown>>]
}

const put = (name: string, value: unknown, more: object = {}) => call({ ...more, [name]: value })
const refusedBy = (name: string, message: string) => [400, { message: { [name]: [message] } }]
const refusedAs = (text: string) => [400, { error: text }]

/** Former names and computed settings, which have no row of their own. */
const withoutRow = ['allow_local_requests_from_hooks_and_services', 'asset_proxy_whitelist', 'ai_availability']
const withRow = expectedSettings.filter(({ name }) => !withoutRow.includes(name))
const ofType = (...types: readonly ExpectedSetting['type'][]) =>
  expectedSettings.filter(({ type }) => types.includes(type))

describe('every setting of the specification', () => {
  test('is in the record, with its default', async () => {
    const [status, record] = await call()
    expect(status).toBe(200)
    const expected = Object.fromEntries(expectedSettings.map(({ name, fallback }) => [name, fallback]))
    expect(record).toMatchObject({ id: 1, ...expected })
  })

  test.each(expectedSettings)('$name is stored and returned', async ({ name, other, fallback, sentWith, shownAs }) => {
    const shown = shownAs ?? other
    expect(await put(name, other, sentWith)).toMatchObject([200, { [name]: shown }])
    expect(await call()).toMatchObject([200, { [name]: shown }])
    expect(await put(name, fallback, sentWith)).toMatchObject([200, { [name]: fallback }])
  })

  test.each(ofType('integer', 'number'))('$name must be a number', async ({ name, typed }) => {
    const message = name === 'performance_bar_allowed_group_id' ? 'is not the id or path of a group' : 'is not a number'
    expect(await put(name, 'many')).toEqual(typed ? refusedAs(`${name} is invalid`) : refusedBy(name, message))
  })

  test.each(ofType('integer'))('$name must be an integer', async ({ name, typed }) => {
    expect(await put(name, 5.5)).toEqual(
      typed ? refusedAs(`${name} is invalid`) : refusedBy(name, 'must be an integer'),
    )
  })

  const flags = withRow.filter(({ type }) => type === 'boolean')
  test.each(flags)('$name must be a boolean value', async ({ name }) => {
    expect(await put(name, null)).toEqual(refusedBy(name, 'must be a boolean value'))
  })

  test.each(flags)('$name is true or false', async ({ name, typed, fallback, sentWith }) => {
    for (const value of ['perhaps', 'nope', '2', 2]) {
      expect(await put(name, value, sentWith)).toEqual(
        typed ? refusedAs(`${name} is invalid`) : refusedBy(name, 'must be a boolean value'),
      )
    }
    for (const [value, shown] of [
      ['yes', true],
      ['No', false],
      ['1', true],
      ['F', false],
    ] as const) {
      expect(await put(name, value, sentWith)).toMatchObject([200, { [name]: shown }])
    }
    await put(name, fallback, sentWith)
  })

  test.each(ofType('number'))('$name is taken as a number or a text, and returned as a number', async (setting) => {
    for (const value of [1.5, '1.5'])
      expect(await put(setting.name, value)).toMatchObject([200, { [setting.name]: 1.5 }])
    await put(setting.name, setting.fallback)
  })

  test.each(ofType('string'))('$name must be a text', async ({ name, typed, oneOf }) => {
    const isParameter = typed || name === 'ai_availability'
    const wrong = oneOf ? 'does not have a valid value' : 'is invalid'
    expect(await put(name, { a: 1 })).toEqual(
      isParameter ? refusedAs(`${name} ${wrong}`) : refusedBy(name, 'is invalid'),
    )
  })

  test.each(ofType('array'))('$name must be a list', async ({ name }) => {
    expect(await put(name, { a: 1 })).toEqual(refusedAs(`${name} is invalid`))
  })

  test.each(ofType('object'))('$name must be an object', async ({ name, typed }) => {
    expect(await put(name, 'x')).toEqual(
      typed ? refusedAs(`${name} is invalid`) : refusedBy(name, 'must be a valid json schema'),
    )
  })

  const nullable = expectedSettings.filter((each) => each.nullable)
  test.each(nullable)('$name can be null', async ({ name, other, fallback }) => {
    await put(name, other)
    expect(await put(name, null)).toMatchObject([200, { [name]: null }])
    await put(name, fallback)
  })

  const required = ofType('integer', 'number').filter((each) => !each.nullable)
  test.each(required)('$name cannot be null', async ({ name }) => {
    expect(await put(name, null)).toEqual(refusedBy(name, 'is not a number'))
  })
})

describe('bounds', () => {
  const atLeast = expectedSettings.filter(({ min }) => min !== undefined)
  test.each(atLeast)('$name is at least $min', async ({ name, min, fallback }) => {
    expect(await put(name, min! - 1)).toEqual(refusedBy(name, `must be greater than or equal to ${min}`))
    expect(await put(name, min)).toMatchObject([200, { [name]: min }])
    await put(name, fallback)
  })

  const above = expectedSettings.filter((each) => each.above !== undefined)
  test.each(above)('$name is greater than zero', async ({ name, fallback }) => {
    expect(await put(name, 0)).toEqual(refusedBy(name, 'must be greater than 0'))
    expect(await put(name, 1)).toMatchObject([200, { [name]: 1 }])
    await put(name, fallback)
  })

  const atMost = expectedSettings.filter(({ max }) => max !== undefined)
  test.each(atMost)('$name is at most $max', async ({ name, max, fallback }) => {
    expect(await put(name, max! + 1)).toEqual(refusedBy(name, `must be less than or equal to ${max}`))
    expect(await put(name, max)).toMatchObject([200, { [name]: max }])
    await put(name, fallback)
  })

  test.each(ofType('integer'))('$name has at most 31 bits', async ({ name, typed, oneOf }) => {
    const [status, body] = await put(name, 2 ** 31)
    expect(status).toBe(400)
    if (typed && oneOf) expect(body).toEqual({ error: `${name} does not have a valid value` })
  })

  const limited = expectedSettings.filter(({ maxLength }) => maxLength !== undefined)
  test.each(limited)('$name has at most $maxLength characters', async ({ name, maxLength, isUrl }) => {
    const long = `${isUrl ? 'https://example.test/' : ''}${'a'.repeat(maxLength! + 1)}`
    const [status, { message }] = await put(name, long)
    expect(status).toBe(400)
    expect(message).toHaveProperty(name, expect.arrayContaining([`is too long (maximum is ${maxLength} characters)`]))
  })

  const urls = expectedSettings.filter(({ isUrl }) => isUrl)
  test.each(urls)('$name is a URL', async ({ name }) => {
    expect(await put(name, 'not a url')).toEqual(refusedBy(name, 'must be a valid URL'))
    expect(await put(name, 'ftp://example.test')).toEqual(refusedBy(name, 'must be a valid URL'))
  })

  const chosen = expectedSettings.filter(({ oneOf }) => oneOf !== undefined)
  test.each(chosen)('$name is one of $oneOf', async ({ name, type, typed, oneOf, fallback }) => {
    const wrong = type === 'integer' ? 5 : 'secret'
    expect(await put(name, wrong)).toEqual(
      typed ? refusedAs(`${name} does not have a valid value`) : refusedBy(name, 'is not included in the list'),
    )
    for (const value of oneOf!) expect(await put(name, value)).toMatchObject([200, { [name]: value }])
    await put(name, fallback)
  })
})

describe('settings that the process fixes', () => {
  let pinned: Listening

  beforeAll(async () => {
    const pinnedSettings = Object.fromEntries(
      withRow.map(({ name, fallback }) => [name, fallback ?? undefined]),
    ) as Partial<SettingValues>
    pinned = await serve({ ...world.core, settings: { ...world.core.settings, pinnedSettings } })
  })

  afterAll(() => pinned.close(AbortSignal.abort()))

  test.each(withRow)(
    '$name is shown, and a PUT that would change it is refused',
    async ({ name, other, fallback, sentWith }) => {
      expect(await call(undefined, pinned)).toMatchObject([200, { [name]: fallback }])
      const [status, { message }] = await call({ ...sentWith, [name]: other }, pinned)
      expect(status).toBe(400)
      expect(message).toHaveProperty(name)
      expect(await call({ diagram_b_url: 'https://embed.diagrams.net', [name]: fallback }, pinned)).toMatchObject([
        200,
        { [name]: fallback },
      ])
    },
  )
})

test('the specification has every row of the table, besides those that its text names', () => {
  const more = settingRows
    .map(([name]) => name as string)
    .filter((name) => !expectedSettings.some((each) => each.name === name))
  expect(more.toSorted()).toEqual([
    'abuse_notification_email',
    'asset_proxy_secret_key',
    'default_branch_name',
    'deny_all_requests_except_allowed',
    'dns_rebinding_protection_enabled',
    'email_confirmation_setting',
    'max_http_response_size_limit',
    'push_event_hooks_limit',
    'ropc_without_client_credentials',
  ])
})
