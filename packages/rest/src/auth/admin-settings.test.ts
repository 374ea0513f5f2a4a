import { createUser, settingOf, settingRows, updateApplicationSettings } from '@penstock/core'
import { beforeEach, expect, test } from 'vitest'
import { oauthRoutes } from './oauth.ts'
import { browser, HOME, newBrowser, root, serve, server, withPages, world } from './pages.harness.ts'
import { settingTopics } from './setting-topics.ts'
import { signInRoutes } from './sign-in.ts'

const PAGE = '/-/admin/settings'

withPages()

beforeEach(async () => {
  const person = { username: 'ada', name: 'Ada', email: 'ada@example.test', password: 'correct horse 2', admin: true }
  await world.perform(root, createUser, person)
  await browser.signIn({ login: 'ada', password: 'correct horse 2' })
})

const linesOf = (text: string) => text.replaceAll(/\s+/g, ' ')
const change = async (name: string, fields: Record<string, string>) =>
  browser.submit(await browser.get(`${PAGE}/${name}`), `${PAGE}/${name}`, fields)

test('every setting is in one topic', () => {
  const names = settingTopics.flatMap(({ names: each }) => each)
  expect(names.toSorted()).toEqual(settingRows.map(([name]) => name).toSorted())
  expect(settingTopics.at(-1)!.names.length).toBeLessThan(15)
})

test('administrators see all settings in topics, with their values and effects, without scripts', async () => {
  expect((await browser.get('/')).text).toContain(`<a href="${HOME}${PAGE}">`)
  await world.perform(root, updateApplicationSettings, { issues_create_limit: 7 })
  const { status, text, headers } = await browser.get(PAGE)
  expect(status).toBe(200)
  expect(text).toContain(`${settingRows.length} settings`)
  for (const [name] of settingRows) expect(text).toContain(`<tr id="${name}">`)
  expect(linesOf(text)).toMatch(
    /<code>issues_create_limit<\/code>.*?In force: POST …\/issues.*?<code>7<\/code> <span class="dim">changed/,
  )
  expect(linesOf(text)).toMatch(/<code>floc_enabled<\/code>.*?Stored for clients/)
  expect(text).not.toContain('<script')
  expect(headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; .*form-action https:\/\/svc\.example\.test;/,
  )
})

test('a search finds names, former names, descriptions and effects, and its text is shown as text', async () => {
  const found = async (query: string) =>
    [...(await browser.get(`${PAGE}?${query}`)).text.matchAll(/<tr id="(\w+)">/g)].map(([, name]) => name)
  expect(await found('q=signin_enabled')).toEqual(['password_authentication_enabled_for_web'])
  expect(await found('q=Issues+minute')).toEqual(['issues_create_limit'])
  expect(await found('q=assistant')).toContain('ai_features_enabled')
  expect(await found('q=assistant&in_force=1')).toEqual([])
  expect(await found('q=no-such-setting')).toEqual([])
  expect((await found('in_force=1')).length).toBe(settingRows.filter(([, each]) => each.takesEffectIn).length)
  expect((await browser.get(`${PAGE}?q=${encodeURIComponent('"><b>x')}`)).text).not.toContain('<b>x')
})

test.each([
  ['issues_create_limit', '7', 7],
  ['max_login_attempts', '3', 3],
  ['admin_mode', 'off', false],
  ['signup_enabled', 'off', false],
  ['default_project_visibility', 'internal', 'internal'],
  ['default_branch_protection', '3', 3],
  ['personal_access_token_prefix', '', undefined],
  ['domain_allowlist', 'a.test\r\n b.test \r\n', ['a.test', 'b.test']],
  [
    'default_branch_protection_defaults',
    '{"allow_force_push":true}',
    expect.objectContaining({ allow_force_push: true }),
  ],
  ['terms', 'one\r\ntwo', 'one\ntwo'],
  ['external_pipeline_validation_service_token', 'sesame', 'sesame'],
] as const)('%s can be set to %j', async (name, text, value) => {
  const { status, location } = await change(name, { [name]: text })
  expect([status, location]).toEqual([303, `${HOME}${PAGE}?saved=${name}#${name}`])
  expect(await settingOf(world.core, name)).toEqual(value)
  const page = await browser.get(`${PAGE}?saved=${name}`)
  expect(page.text).toContain(`<code>${name}</code> was saved.`)
  expect(page.text).not.toContain('sesame')
})

test('a form that is sent as it is changes nothing', async () => {
  await world.perform(root, updateApplicationSettings, {
    external_pipeline_validation_service_token: 'sesame',
    asset_proxy_secret_key: 'hidden',
    terms: '\n<b>first</b> & "last"',
  })
  const before = await world.core.db.read.selectFrom('application_setting_values').selectAll().orderBy('name').execute()
  for (const [name, setting] of settingRows) {
    if (setting.companions !== undefined) continue
    const page = await browser.get(`${PAGE}/${name}`)
    const control = new RegExp(`name="${name}"[^>]*?(?:value="([^"]*)"|>\\n([^<]*)</textarea>)`).exec(page.text)
    const selected = /<option value="([^"]*)" selected>/.exec(page.text)
    const text = (selected?.[1] ?? control?.[1] ?? control?.[2])!.replaceAll(/&#(\d+);/g, (_, code) =>
      String.fromCharCode(Number(code)),
    )
    const { status } = await browser.submit(page, `${PAGE}/${name}`, { [name]: text })
    expect([name, status]).toEqual([name, 303])
  }
  const after = await world.core.db.read.selectFrom('application_setting_values').selectAll().orderBy('name').execute()
  expect(after).toEqual(before)
})

test('a value that is refused is shown again with the reason, and nothing is stored', async () => {
  const refused = await change('max_attachment_size', { max_attachment_size: '0' })
  expect(refused.status).toBe(422)
  expect(refused.text).toContain('<p role="alert">max_attachment_size: must be greater than 0</p>')
  expect(refused.text).toContain('value="0"')
  expect((await change('max_attachment_size', { max_attachment_size: 'much' })).text).toContain(
    'max_attachment_size is invalid',
  )
  expect((await change('sign_in_restrictions', { sign_in_restrictions: '{' })).status).toBe(422)
  expect(await settingOf(world.core, 'max_attachment_size')).toBe(100)
})

test('a setting is changed together with those that it needs', async () => {
  const fields = { asset_proxy_enabled: 'on', asset_proxy_url: 'https://p.example.test', asset_proxy_secret_key: '' }
  const refused = await change('asset_proxy_enabled', fields)
  expect([refused.status, refused.text.includes('asset_proxy_secret_key is missing')]).toEqual([422, true])
  expect((await change('asset_proxy_enabled', { ...fields, asset_proxy_secret_key: 'k' })).status).toBe(303)
  expect(await settingOf(world.core, 'asset_proxy_url')).toBe('https://p.example.test')
})

test('a setting that the configuration fixes is marked, and has no form', async () => {
  await server.close()
  const core = { ...world.core, settings: { ...world.core.settings, pinnedSettings: { issues_create_limit: 9 } } }
  await serve([...signInRoutes(core), ...oauthRoutes(core)])
  const { text } = await browser.get(PAGE)
  expect(linesOf(text)).toMatch(/<tr id="issues_create_limit">.*?<code>9<\/code>.*?fixed by the configuration/)
  const page = await browser.get(`${PAGE}/issues_create_limit`)
  expect(page.text).not.toContain('<form')
  const { hidden } = await browser.get(`${PAGE}/signup_enabled`)
  const sent = await browser.post(`${PAGE}/issues_create_limit`, { ...hidden, issues_create_limit: '5' })
  expect([sent.status, sent.text.includes('is set by the configuration of the service')]).toEqual([422, true])
})

test('others are refused: visitors, users, administrators in admin mode, and other sites', async () => {
  const visitor = await newBrowser().get(`${PAGE}?q=hook`)
  expect([visitor.status, visitor.location]).toEqual([
    303,
    `${HOME}/users/sign_in?return_to=${encodeURIComponent(`${PAGE}?q=hook`)}`,
  ])
  const user = newBrowser()
  await user.signIn()
  expect((await user.get('/')).text).not.toContain(PAGE)
  for (const path of [PAGE, `${PAGE}/terms`]) expect((await user.get(path)).status).toBe(403)
  expect((await user.post(`${PAGE}/signup_enabled`, { signup_enabled: 'off' })).status).toBe(403)

  const { hidden } = await browser.get(`${PAGE}/signup_enabled`)
  for (const fields of [{}, { csrf_token: '0'.repeat(64) }]) {
    expect((await browser.post(`${PAGE}/signup_enabled`, { ...fields, signup_enabled: 'off' })).status).toBe(403)
  }
  const crossSite = { 'sec-fetch-site': 'cross-site' }
  const forged = await browser.post(`${PAGE}/signup_enabled`, { ...hidden, signup_enabled: 'off' }, crossSite)
  expect(forged.status).toBe(403)
  expect(await settingOf(world.core, 'signup_enabled')).toBe(true)
  expect((await browser.get(`${PAGE}/no_such_setting`)).status).toBe(404)
  expect((await browser.get(`${PAGE}/constructor`)).status).toBe(404)

  await world.perform(root, updateApplicationSettings, { admin_mode: true })
  expect((await browser.get(PAGE)).status).toBe(403)
})
