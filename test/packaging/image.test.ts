import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { expect, onTestFinished, test, vi } from 'vitest'
import { freePorts } from '../cli/serving.ts'
import { until } from '../gateway/until.ts'
import { Container, type ContainerSettings, readImage } from './container.ts'
import { describeWithImage, firstSecrets, onFreePorts } from './describe-with-image.ts'
import { readBanner, tourCore, tourGateway } from './tour.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

const MAX_COMPRESSED_BYTES = 100_000_000
const builder = createRequire(import.meta.url).resolve('@penstock/toolchain/image.mjs')
const { version } = createRequire(import.meta.url)('../../package.json') as { version: string }

describeWithImage('the image', [], (image) => {
  test('runs as a user without rights, names its volume and ports, and is small', () => {
    const { manifest, config } = readImage()
    expect(config).toMatchObject({
      User: '65532:65532',
      Entrypoint: ['penstock'],
      Cmd: ['serve'],
      ExposedPorts: { '4317/tcp': {}, '4318/tcp': {}, '8080/tcp': {}, '8081/tcp': {} },
      Volumes: { '/var/lib/penstock': {} },
      Labels: { 'org.opencontainers.image.version': version },
    })
    const sizes = manifest.layers.map(({ size }: { size: number }) => size)
    expect(sizes.reduce((sum: number, size: number) => sum + size, 0)).toBeLessThanOrEqual(MAX_COMPRESSED_BYTES)
  })

  test('has no shell, no package manager and no file that gives the rights of root', () => {
    const found = execFileSync('find', [image().rootfs, '-type', 'f', '-perm', '/6000'], { encoding: 'utf8' })
    expect(found).toBe('')
    for (const program of ['bin/sh', 'usr/bin/bash', 'usr/bin/apt', 'usr/bin/dpkg', 'usr/local/bin/npm']) {
      expect(existsSync(join(image().rootfs, program))).toBe(false)
    }
    expect(readFileSync(join(image().rootfs, 'var/lib/dpkg/status.d/libc6'), 'utf8')).toMatch(/^Version: /m)
  })

  test('takes key and token of the first start from files, serves on a root that cannot be written, and keeps its state', async () => {
    const secrets = image().secrets('secrets', {
      'obs-api-key': `${firstSecrets.apiKey}\n`,
      'root-token': `${firstSecrets.rootToken}\n`,
    })
    const data = image().volume('data')
    const settings: ContainerSettings = {
      readOnlyRoot: true,
      noNewPrivileges: true,
      tmpfs: ['/tmp'],
      mounts: [
        { source: data, target: '/var/lib/penstock' },
        { source: secrets, target: '/run/secrets', readOnly: true },
      ],
      env: {
        ...freePorts,
        PENSTOCK_OBS_API_KEY_FILE: '/run/secrets/obs-api-key',
        PENSTOCK_ROOT_TOKEN_FILE: '/run/secrets/root-token',
      },
      memoryBytes: 1 << 30,
    }
    await using first = new Container(image(), settings)
    const service = await startedService(first)
    expect(first.stdout.text).not.toContain('shown only now')
    await tourGateway(service)
    await tourCore(service)

    const url = ['--url', `${service.managementUrl}/readyz`]
    expect(first.exec('penstock', 'health', ...url)).toMatchObject({ status: 0, stdout: 'ready\n' })
    expect(first.exec('penstock', 'health', '--url', 'http://127.0.0.1:1/readyz')).toMatchObject({
      status: 1,
      stderr: 'http://127.0.0.1:1/readyz: bad port\n',
    })
    const write = "try { fs.writeFileSync('/opt/x', '') } catch ({ code }) { console.log(code, process.getuid()) }"
    expect(first.exec('node', '-e', write).stdout).toBe('EROFS 65532\n')
    const doctor = first.exec('penstock', 'doctor')
    expect(doctor.stdout).toContain(`ok    penstock ${version}, in an image\n`)
    expect(doctor).toMatchObject({ status: 0 })
    expect(await first.end()).toBe(0)
    expect(statSync(join(data, 'secrets.key'))).toMatchObject({ uid: 65_532, mode: 0o100600 })

    await using second = new Container(image(), settings)
    const again = await startedService(second)
    const answer = await fetch(`${again.coreUrl}/api/v4/projects/ops%2Ftools`, {
      headers: { 'private-token': firstSecrets.rootToken },
    })
    expect(answer.status).toBe(200)
    const state = await fetch(`${again.managementUrl}/api/v1/ingest_auth/state`, {
      headers: { 'obs-api-key': firstSecrets.apiKey },
    })
    expect(await state.json()).toMatchObject({ enabled: true, valid_tokens: 1 })
    expect(await second.end()).toBe(0)
  })

  test('a gateway with several processes starts and ends in a container', async () => {
    const { listen, service } = await onFreePorts()
    await using container = new Container(image(), {
      command: ['serve', 'gateway', '--workers', '2'],
      env: { ...listen, PENSTOCK_UPSTREAM: 'http://127.0.0.1:1' },
      readOnlyRoot: true,
      noNewPrivileges: true,
      tmpfs: ['/tmp'],
      mounts: [{ source: image().volume('workers'), target: '/var/lib/penstock' }],
    })
    await until('it is ready', () => container.exec('penstock', 'health').status === 0, 60_000)
    const answer = await fetch(`${service.otlpUrl}/v1/traces`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    })
    // Nothing listens on the address of the upstream.
    expect(answer.status).toBe(503)
    expect(await container.end()).toBe(0)
  })

  test('the same sources give the same image', () => {
    const directory = mkdtempSync(join(tmpdir(), 'penstock-image-'))
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
    const { config, digest } = readImage()
    const seconds = Date.parse(config.Labels['org.opencontainers.image.created']!) / 1_000
    const env = { ...process.env, SOURCE_DATE_EPOCH: String(seconds) }
    execFileSync(process.execPath, [builder, join(directory, 'image')], { env, stdio: 'pipe' })
    const [again] = JSON.parse(readFileSync(join(directory, 'image/index.json'), 'utf8')).manifests
    expect(again.digest).toBe(digest)
  })
})

/** Waits until the service in a container has started, and returns its addresses and secrets. @throws {Error} if the container ends */
async function startedService(container: Container) {
  const isThere = () => container.stdout.text.includes('Try next:') && container.stdout.text
  const banner = await Promise.race([until('it serves', isThere, 60_000), container.ended.then(() => undefined)])
  if (banner === undefined) throw new Error(`the container has ended: ${container.stderr.text}`)
  return { ...readBanner(banner), ...firstSecrets }
}
