import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { parse } from 'yaml'
import { until } from '../gateway/until.ts'
import { Container, type ContainerSettings, type Mount, readImage } from './container.ts'
import { describeWithImage, firstSecrets, onFreePorts } from './describe-with-image.ts'
import { tourCore, tourGateway } from './tour.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

interface ComposeService {
  readonly image: string
  readonly command: readonly string[]
  readonly user: string
  readonly read_only: boolean
  readonly cap_drop: readonly string[]
  readonly security_opt: readonly string[]
  readonly mem_limit: string
  readonly tmpfs: readonly string[]
  readonly ports: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly secrets: readonly string[]
  readonly volumes: readonly string[]
  readonly healthcheck: { readonly test: readonly string[]; readonly interval: string }
  readonly restart: string
  readonly stop_grace_period: string
}

/** The keys of a service that this suite tests. A new key must be added here together with its test. */
const testedKeys = [
  'image',
  'command',
  'user',
  'read_only',
  'cap_drop',
  'security_opt',
  'mem_limit',
  'tmpfs',
  'ports',
  'environment',
  'secrets',
  'volumes',
  'healthcheck',
  'restart',
  'stop_grace_period',
]

const file = parse(readFileSync(join(import.meta.dirname, '../../packaging/compose.yaml'), 'utf8'))
const service: ComposeService = file.services.penstock
const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../../package.json'), 'utf8'))

test('the compose file has the version of the image, and every secret and volume that it uses', () => {
  expect(Object.keys(service).filter((key) => !testedKeys.includes(key))).toEqual([])
  expect(service.image).toBe(`penstock:${version}`)
  for (const { secrets = [], volumes = [] } of Object.values(file.services) as ComposeService[]) {
    expect(secrets.filter((name) => !(name in file.secrets))).toEqual([])
    expect(volumes.map((volume) => volume.split(':')[0]!).filter((name) => !(name in file.volumes))).toEqual([])
  }
})

test('it drops every right, and publishes ports on loopback only', () => {
  expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
  expect(service.ports.map((port) => /^127\.0\.0\.1:(\d+):\1$/.exec(port)?.[1])).toEqual([
    '8080',
    '8081',
    '4318',
    '4317',
  ])
})

describeWithImage('the service of the compose file', [], (image) => {
  test('starts with the secrets in files, becomes healthy, takes the tour and ends in its time', async () => {
    const secrets = image().secrets('secrets', {
      'obs-api-key': firstSecrets.apiKey,
      'root-token': firstSecrets.rootToken,
    })
    expect(Object.keys(readImage().config.ExposedPorts).toSorted()).toEqual([
      '4317/tcp',
      '4318/tcp',
      '8080/tcp',
      '8081/tcp',
    ])
    const settings = settingsOf(service, secrets, (name) => image().volume(name))
    // The container has the network of the host, where other programs may use the ports of the image.
    const { listen, service: toured } = await onFreePorts()
    await using container = new Container(image(), { ...settings, env: { ...settings.env, ...listen } })
    const [kind, ...check] = service.healthcheck.test
    expect(kind).toBe('CMD')
    await until('it is healthy', () => container.exec(...check).status === 0, 60_000)
    await tourGateway(toured)
    await tourCore(toured)
    const startMs = performance.now()
    expect(await container.end()).toBe(0)
    expect(performance.now() - startMs).toBeLessThan(Number.parseInt(service.stop_grace_period, 10) * 1_000)
  })
})

/** Returns the settings of a container that a container engine would derive from the service. */
function settingsOf(
  compose: ComposeService,
  secretsDirectory: string,
  volume: (name: string) => string,
): ContainerSettings {
  const [uid, gid] = compose.user.split(':').map(Number)
  const mounts: Mount[] = [
    ...compose.volumes
      .map((line) => line.split(':'))
      .map(([name, target]) => ({ source: volume(name!), target: target! })),
    { source: secretsDirectory, target: '/run/secrets', readOnly: true },
  ]
  const [, amount, unit] = /^(\d+)([mg])$/.exec(compose.mem_limit)!
  return {
    command: compose.command,
    env: compose.environment,
    user: { uid: uid!, gid: gid! },
    readOnlyRoot: compose.read_only,
    noNewPrivileges: compose.security_opt.includes('no-new-privileges:true'),
    tmpfs: compose.tmpfs,
    mounts,
    memoryBytes: Number(amount) * (unit === 'g' ? 1 << 30 : 1 << 20),
  }
}
