import { updateProjectHook } from '@penstock/core'
import { expect, onTestFinished, test } from 'vitest'
import { HookWorld, newWebhooks } from './webhooks.harness.ts'

/** Targets inside the network, by how they hide it. All of them are URLs, so another policy would accept them. */
const forbidden: Readonly<Record<string, readonly string[]>> = {
  'loopback, in every spelling of an address': [
    ...[
      '127.0.0.1',
      '127.0.0.1:22',
      '127.0.0.1:8080',
      '127.1',
      '127.0.1',
      '127.255.255.254',
      '2130706433',
      '0x7f000001',
      '017700000001',
    ],
    ...[
      '0x7f.0.0.1',
      '0177.0.0.1',
      '127.0.0.1.',
      '[::1]',
      '[0:0:0:0:0:0:0:1]',
      '[::1]:443',
      '１２７.0.0.1',
      '127。0。0。1',
    ],
  ],
  'this host': ['0.0.0.0', '0', '0x0', '[::]', 'localhost', 'LOCALHOST', 'ⓛocalhost', 'localhost:65535'],
  'IPv4 inside IPv6': [
    ...[
      '[::ffff:127.0.0.1]',
      '[::ffff:0.0.0.0]',
      '[::ffff:7f00:1]',
      '[::ffff:10.0.0.1]',
      '[::ffff:169.254.169.254]',
      '[::127.0.0.1]',
    ],
    ...['[::ffff:0:10.1.2.3]', '[64:ff9b::7f00:1]', '[64:ff9b::169.254.169.254]', '[64:ff9b:1::10.0.0.1]'],
    ...['[2002:7f00:1::1]', '[2002:c0a8:101::1]', '[2001:0:a00:1::f6f6:f6f6]', '[2606:2800::5efe:10.0.0.1]'],
  ],
  'private networks': [
    ...[
      '10.0.0.1',
      '10.255.255.255',
      '172.16.0.1',
      '172.20.0.1',
      '172.31.255.255',
      '192.168.1.1:8080',
      '192.168.0.1',
      '3232235777',
    ],
    ...['0xa.0.0.1', '012.0.0.1', '10.1', '[fd00::1]', '[fc00::1]', '[fdff:ffff::1]', '[fec0::1]'],
  ],
  'link local, with the metadata of clouds': [
    ...['169.254.169.254', '169.254.169.254:80', '2852039166', '0xa9fea9fe', '[fe80::1]', '[fe80::200:5efe:9.9.9.9]'],
  ],
  'shared and special ranges': [
    ...['100.64.0.1', '100.127.255.255', '255.255.255.255', '224.0.0.1', '239.255.255.250', '240.0.0.1', '0.1.2.3'],
    ...[
      '192.0.0.1',
      '192.0.2.1',
      '198.18.0.1',
      '198.51.100.1',
      '203.0.113.1',
      '[ff02::1]',
      '[2001:db8::1]',
      '[100::1]',
    ],
    ...['[3fff::1]', '[4000::1]', '[5f00::1]'],
  ],
  credentials: ['u:p@127.0.0.1', 'example.test:443@127.0.0.1', '1.1.1.1%2f@127.0.0.1', '@10.0.0.1'],
}
const targets = Object.values(forbidden).flat()

/** URLs that no policy accepts. */
const unusable = [
  ...[
    'ftp://1.1.1.1/',
    'file:///etc/passwd',
    'gopher://1.1.1.1/',
    'javascript:alert(1)',
    'data:,x',
    '//1.1.1.1/',
    '1.1.1.1',
  ],
  ...[
    'http:/1.1.1.1/',
    'http:\\\\1.1.1.1/',
    'http://',
    'http:// 1.1.1.1/',
    'http://1.1.1.1:65536/',
    'http://1.1.1.1:x/',
  ],
  ...['http://1.1.1.1\r\nHost: x/', 'http://1.1.1.1\t/', ' http://1.1.1.1/', 'http://[::1', 'http://_x.example.test/'],
  ...['http://256.1.1.1/', 'http://1.1.1.1.1/', 'http://-x/', 'http://{host}/', `http://${'a.'.repeat(600)}test/`],
]

const refused = { code: 'unprocessable', message: 'Invalid url given' }
const failureOf = (error: { readonly failure: unknown }) => error.failure

test('there are at least 80 targets', () => {
  expect(new Set(targets).size).toBeGreaterThanOrEqual(80)
})

test('each target inside the network is refused when a hook is saved', async () => {
  const hooks = await HookWorld.open(undefined, { settings: { pinnedSettings: {} } })
  const outcomes: unknown[] = []
  for (const url of [...targets.map((target) => `http://${target}/in`), ...unusable]) {
    outcomes.push([url, await hooks.hook({ url }).catch(failureOf)])
  }
  expect(outcomes).toEqual(
    [...targets.map((target) => `http://${target}/in`), ...unusable].map((url) => [url, refused]),
  )
})

test('each target inside the network is refused when a request is sent, also after a redirect', async () => {
  let location = ''
  const hooks = await HookWorld.open(() => ({
    play: 'reply',
    status: 307,
    headers: { location: new URL(location).href },
  }))
  const { id } = await hooks.hook()
  const { id: redirected } = await hooks.hook()
  const { settings } = hooks.core
  const withAllowed = (entries: readonly string[]) => {
    const pinnedSettings = { outbound_local_requests_whitelist: [...entries] }
    const webhooks = newWebhooks({ ...hooks.world.core, settings: { ...settings, pinnedSettings } })
    onTestFinished(() => webhooks.end())
    return webhooks
  }
  const [strict, receiverOnly] = [withAllowed([]), withAllowed([new URL(hooks.receiver.url).host])]
  const context = { actor: undefined, core: hooks.core, request: {}, requireUnmodified: () => {} }
  const event = { projectId: hooks.project.id, event: 'resourceAccessTokenEvents' } as const
  const blocked = { kind: 'failed', reason: expect.stringMatching(/^URL is blocked: Requests to .* are not allowed$/) }
  const outcomes: unknown[] = []
  for (const target of targets) {
    location = `http://${target}/in`
    await hooks.perform(updateProjectHook, { hookId: id, url: location })
    outcomes.push([target, await strict.calls.test(context, { ...event, hookId: id })])
    outcomes.push([target, await receiverOnly.calls.test(context, { ...event, hookId: redirected })])
  }
  expect(outcomes).toEqual(
    targets.flatMap((target) => [
      [target, blocked],
      [target, blocked],
    ]),
  )
  expect(hooks.receiver.requests).toHaveLength(targets.length)
})

test('the allow list and the own instance pass, and nothing beside them', async () => {
  const list = ['10.1.0.0/16', '192.168.7.7:8443', 'localhost:9000', '[fd00::7]:8080']
  const hooks = await HookWorld.open(undefined, {
    settings: { externalUrl: 'http://127.0.0.1:8080', pinnedSettings: { outbound_local_requests_whitelist: list } },
  })
  const save = (url: string) => hooks.hook({ url }).then((hook) => hook.url, failureOf)
  for (const url of [
    ...['http://10.1.2.3/in', 'https://10.1.255.255:99/', 'http://192.168.7.7:8443/', 'http://localhost:9000/'],
    ...['http://[fd00::7]:8080/', 'http://127.0.0.1:8080/in'],
  ]) {
    expect(await save(url), url).toBe(url)
  }
  for (const url of [
    ...['http://10.2.0.1/', 'http://192.168.7.7/', 'http://192.168.7.7:8444/', 'http://localhost:9001/'],
    ...['http://[fd00::8]:8080/', 'http://127.0.0.1:8081/', 'https://127.0.0.1:8080/', 'http://127.0.0.2:8080/'],
  ]) {
    expect(await save(url), url).toEqual(refused)
  }
})
