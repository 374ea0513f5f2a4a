import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { ScriptedServer, temporarySchema } from '@penstock/testkit'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { parse } from 'yaml'
import { describeWithPrograms } from '../collector/program-suite.ts'
import { until } from '../gateway/until.ts'
import { describeWithPostgres } from '../postgres/describe-with-postgres.ts'
import { Relay } from '../postgres/relay.ts'
import { ControlPlane } from './cluster.ts'
import { describeWithImage, firstSecrets } from './describe-with-image.ts'
import { chart, type Manifest, neededHelm, render, runHelm } from './helm.ts'
import { type Cluster, claimedVolume, Pod } from './pod.ts'
import { tourCore } from './tour.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

const PEPPERS = `shared:${Buffer.alloc(32, 7).toString('base64')}`
const FS_GROUP = 65_532
const NAMESPACE = 'telemetry'
/** The time within which a change must reach every gateway. */
const BOUND_MS = 2_000
const valuesDirectory = join(chart, '../values')
const valueFiles = readdirSync(valuesDirectory).map((name) => [name, join(valuesDirectory, name)] as const)
const { version } = JSON.parse(readFileSync(join(chart, '../../../package.json'), 'utf8'))

const podSpec = ({ spec }: Manifest) => spec.template.spec
const ofKind = (manifests: readonly Manifest[], kind: string) => manifests.filter((each) => each.kind === kind)

describeWithPrograms('the chart', neededHelm, () => {
  test('has the version of the packages', () => {
    expect(parse(readFileSync(join(chart, 'Chart.yaml'), 'utf8'))).toMatchObject({ version, appVersion: version })
  })

  describe.each(valueFiles)('with %s', (_, file) => {
    test('passes the linter', () => {
      const { status, stdout } = runHelm('lint', '--strict', chart, '--values', file)
      expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining('0 chart(s) failed') })
    })

    test('gives each pod no rights, and selects the pods that it makes', () => {
      const manifests = render('--values', file)
      for (const deployment of ofKind(manifests, 'Deployment')) {
        const spec = podSpec(deployment)
        expect(spec).toMatchObject({
          automountServiceAccountToken: false,
          securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
        })
        for (const container of spec.containers) {
          expect(container.securityContext).toEqual({
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          })
          expect(container).toMatchObject({
            startupProbe: {},
            livenessProbe: {},
            readinessProbe: {},
            resources: { limits: { memory: expect.any(String) } },
          })
        }
      }
      const labels = ofKind(manifests, 'Deployment').map(({ spec }) => spec.template.metadata.labels)
      const selects = (selector: object) =>
        labels.some((each) => Object.entries(selector).every(([key, value]) => each[key] === value))
      for (const { spec } of ofKind(manifests, 'Service')) expect(selects(spec.selector)).toBe(true)
      for (const { spec } of ofKind(manifests, 'PodDisruptionBudget'))
        expect(selects(spec.selector.matchLabels)).toBe(true)
      for (const { spec } of ofKind(manifests, 'NetworkPolicy'))
        expect(selects(spec.podSelector.matchLabels)).toBe(true)
    })
  })

  test('replicas, budget and autoscaling follow the values', () => {
    const minimal = render('--values', join(valuesDirectory, 'minimal.yaml'))
    expect(minimal.map(({ kind }) => kind).toSorted()).toEqual([
      'Deployment',
      'PodDisruptionBudget',
      'Service',
      'ServiceAccount',
    ])
    expect(ofKind(minimal, 'Deployment')[0]!.spec.replicas).toBe(2)
    expect(ofKind(minimal, 'PodDisruptionBudget')[0]!.spec.maxUnavailable).toBe(1)
    const production = render('--values', join(valuesDirectory, 'production.yaml'))
    const [gateway] = ofKind(production, 'Deployment').filter(({ metadata }) => metadata.name.endsWith('-gateway'))
    expect(gateway!.spec.replicas).toBeUndefined()
    expect(ofKind(production, 'HorizontalPodAutoscaler')[0]!.spec).toMatchObject({ minReplicas: 3, maxReplicas: 10 })
    expect(podSpec(gateway!).containers[0].image).toBe(`images.example.com/penstock@sha256:${'0'.repeat(64)}`)
  })

  test.each([
    ['without a Secret', ['--set', 'upstream=http://collector:4318'], 'existingSecret'],
    ['without an upstream', ['--set', 'existingSecret=s'], 'upstream'],
    [
      'a core without its URL',
      ['--set', 'existingSecret=s,upstream=http://c:4318,core.enabled=true'],
      'core.externalUrl is required',
    ],
    ['an unknown value', ['--set', 'existingSecret=s,upstream=http://c:4318,gateway.replica=2'], 'replica'],
    ['a password in the upstream', ['--set', 'existingSecret=s,upstream=http://user:secret@c:4318'], 'upstream'],
  ])('%s is refused', (_, values, message) => {
    const { status, stderr } = runHelm('template', 'test', chart, ...values)
    expect(status).toBe(1)
    expect(stderr).toContain(message)
  })
})

describeWithPrograms('the Kubernetes API server', neededHelm, () => {
  let cluster: ControlPlane
  beforeAll(async () => {
    cluster = await ControlPlane.start()
  })
  afterAll(() => cluster?.[Symbol.asyncDispose]())

  test.each(valueFiles)('stores what helm installs and upgrades with %s', async (name, file) => {
    const namespace = `with-${basename(name, '.yaml')}`
    const common = ['test', chart, '--values', file, '--namespace', namespace, ...cluster.helmArguments]
    const install = runHelm('install', ...common, '--create-namespace')
    expect({ status: install.status, stderr: install.stderr }).toMatchObject({ status: 0 })
    for (const { kind, metadata } of render('--values', file)) {
      expect(await cluster.get(namespace, kind, metadata.name)).toMatchObject({
        kind,
        metadata: { name: metadata.name },
      })
    }
    const upgrade = runHelm('upgrade', ...common, '--set', 'gateway.terminationGracePeriodSeconds=55')
    expect({ status: upgrade.status, stderr: upgrade.stderr }).toMatchObject({ status: 0 })
    const gateway = await cluster.get(namespace, 'Deployment', 'test-penstock-gateway')
    expect(gateway.spec.template.spec.terminationGracePeriodSeconds).toBe(55)
  })

  test.each(valueFiles)('knows every field of the objects with %s', async (_, file) => {
    await cluster.createNamespace('strict')
    for (const manifest of render('--values', file)) {
      const { status, json } = await cluster.create('strict', manifest, { dryRun: true })
      expect({ status, message: json.message }).toEqual({ status: 201, message: undefined })
    }
    const wrong = structuredClone(ofKind(render('--values', file), 'Deployment')[0]!)
    podSpec(wrong).containers[0].readinesProbe = {}
    const { status, json } = await cluster.create('strict', wrong, { dryRun: true })
    expect(status).toBe(400)
    expect(json.message).toContain('unknown field "spec.template.spec.containers[0].readinesProbe"')
  })
})

describeWithImage('the pods of the chart', neededHelm, (image) => {
  describeWithPostgres('on PostgreSQL', (serverUrl) => {
    /** Returns the URL of a new database that containers can reach. */
    async function database(): Promise<string> {
      const schema = await temporarySchema(serverUrl())
      const relay = await Relay.to(schema.location)
      onTestFinished(async () => {
        relay.close()
        await schema.remove()
      })
      return relay.url
    }

    test('two gateways and a core become ready, take the tour, and a gateway that ends leaves the other working', async () => {
      const upstream = await ScriptedServer.start(() => ({ play: 'reply', status: 200 }))
      onTestFinished(() => upstream.close())
      await using plane = await ControlPlane.start()
      await plane.createNamespace(NAMESPACE)
      const metadata = { name: 'penstock-secrets' }
      const stringData = {
        'gateway-database-url': await database(),
        peppers: PEPPERS,
        'obs-api-key': firstSecrets.apiKey,
        'core-database-url': await database(),
        'root-token': firstSecrets.rootToken,
      }
      await plane.create(NAMESPACE, { apiVersion: 'v1', kind: 'Secret', metadata, stringData })
      const values = {
        existingSecret: metadata.name,
        upstream: upstream.url,
        'core.enabled': 'true',
        'core.externalUrl': 'http://127.0.0.1:8080',
      }
      const set = Object.entries(values).flatMap(([name, value]) => ['--set', `${name}=${value}`])
      const installed = runHelm('install', 'test', chart, ...set, '--namespace', NAMESPACE, ...plane.helmArguments)
      expect({ status: installed.status, stderr: installed.stderr }).toMatchObject({ status: 0 })
      const gateway = await plane.get(NAMESPACE, 'Deployment', 'test-penstock-gateway')
      const core = await plane.get(NAMESPACE, 'Deployment', 'test-penstock-core')
      const { data } = await plane.get(NAMESPACE, 'Secret', metadata.name)
      const files = Object.entries(data as Record<string, string>).map(([key, value]) => [
        key,
        Buffer.from(value, 'base64').toString(),
      ])
      const cluster: Cluster = {
        image: image(),
        secretFiles: image().secrets('secret', Object.fromEntries(files)),
        claims: { 'test-penstock-core': claimedVolume(image(), 'claim', FS_GROUP) },
        services: {},
      }
      // Both start at the same moment on a new database, as a cluster starts them.
      expect(gateway.spec.replicas).toBe(2)
      await using one = await Pod.start(gateway, 'gateway-1', cluster)
      await using other = await Pod.start(gateway, 'gateway-2', cluster)
      await Promise.all([one.ready(), other.ready()])

      // biome-ignore lint/suspicious/noExplicitAny: the test knows the shape of the answer
      const call = async (pod: Pod, method: string, path: string, body?: object): Promise<any> => {
        const response = await fetch(`${pod.url('management')}/api/v1/ingest_auth${path}`, {
          method,
          headers: { 'obs-api-key': firstSecrets.apiKey, 'content-type': 'application/json' },
          ...(body && { body: JSON.stringify(body) }),
        })
        return response.json()
      }
      const send = async (pod: Pod, token?: string) => {
        const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) }
        return (
          await fetch(`${pod.url('otlp-http')}/v1/traces`, { method: 'POST', headers, body: '{"resourceSpans":[]}' })
        ).status
      }
      const { token } = await call(one, 'POST', '/tokens', { name: 'laptop' })
      await call(one, 'PUT', '/state', { enabled: true })
      await until('the other gateway follows', async () => (await send(other)) === 401, BOUND_MS)
      expect([await send(one), await send(one, token), await send(other, token)]).toEqual([401, 200, 200])
      expect(upstream.requests.length).toBeGreaterThanOrEqual(2)
      const processes = await call(other, 'GET', '/processes')
      expect(processes.map(({ state }: { state: string }) => state)).toEqual(['following', 'following'])

      const services = { 'http://test-penstock-gateway:4318': other.url('otlp-http') }
      await using corePod = await Pod.start(core, 'core-1', { ...cluster, services })
      await corePod.ready()
      await tourCore({
        managementUrl: '',
        otlpUrl: '',
        coreUrl: corePod.url('http'),
        apiKey: '',
        rootToken: firstSecrets.rootToken,
      })

      const ended = one.end()
      await until('it is not ready while it drains', async () => !(await one.isReady()), 10_000)
      expect(await send(other, token)).toBe(200)
      expect(await ended).toEqual({ exitCode: 0, inTime: true })
      expect(await send(other, token)).toBe(200)
      expect(await corePod.end()).toEqual({ exitCode: 0, inTime: true })
    })
  })
})
