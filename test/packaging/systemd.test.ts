import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { until } from '../gateway/until.ts'
import { BootedMachine, MachineRoot } from './booted-machine.ts'
import { isInstalled, type UnpackedImage } from './container.ts'
import { describeWithImage, firstSecrets, onFreePorts } from './describe-with-image.ts'
import { packFiles } from './installed.ts'
import { type RunningService, tourCore, tourGateway } from './tour.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

/** The exposure that systemd-analyze computes, from 0 to 10. It calls 2 and less "safe". */
const MAX_EXPOSURE = 2
const unit = join(import.meta.dirname, '../../packaging/systemd/penstock.service')
const { version } = createRequire(import.meta.url)('../../package.json') as { version: string }

const needed = ['systemd-nspawn', 'systemd-analyze', 'npm'].map((name) => ({
  name,
  script: 'image',
  isBuilt: isInstalled(name),
}))

describeWithImage('the systemd unit', needed, (image) => {
  let root: MachineRoot
  let machine: BootedMachine
  let service: RunningService
  beforeAll(async () => {
    using packed = packFiles()
    root = new MachineRoot()
    service = await install(root, packed.tarball('penstock'), image())
    machine = new BootedMachine(root)
    await machine.booted()
  })
  afterAll(async () => {
    await machine?.[Symbol.asyncDispose]()
    root?.[Symbol.dispose]()
  })

  const property = (name: string) =>
    machine.run('systemctl', 'show', 'penstock', `--property=${name}`, '--value').stdout.trim()
  const isReady = () =>
    fetch(`${service.managementUrl}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )

  test('is valid, and exposes the machine little', () => {
    const verified = spawnSync(
      'systemd-analyze',
      ['verify', '--recursive-errors=no', `--root=${root.path}`, '/etc/systemd/system/penstock.service'],
      { encoding: 'utf8' },
    )
    expect({ status: verified.status, stderr: verified.stderr }).toEqual({ status: 0, stderr: '' })
    const args = ['security', '--offline=true', `--threshold=${MAX_EXPOSURE * 10}`, unit]
    const { status, stdout } = spawnSync('systemd-analyze', args, { encoding: 'utf8' })
    expect(stdout).toMatch(/Overall exposure level/)
    expect(status).toBe(0)
  })

  test('systemd starts it as a user without rights, with the secrets, and it takes the tour', async () => {
    await until('it is ready', isReady, 60_000).catch((error: Error) => {
      throw new Error(`${error.message}\n${machine.run('journalctl', '--unit=penstock', '--no-pager').stdout}`)
    })
    await tourGateway(service)
    await tourCore(service)
    const pid = property('MainPID')
    const status = machine.run('cat', `/proc/${pid}/status`).stdout
    expect(status).toMatch(/^Uid:\t(?!0\b)\d+/m)
    expect(status).toMatch(/^CapEff:\t0+$/m)
    expect(status).toMatch(/^NoNewPrivs:\t1$/m)
    expect(status).toMatch(/^Seccomp:\t2$/m)
    expect(machine.run('stat', '--format=%a', '-L', '/var/lib/penstock/secrets.key').stdout.trim()).toBe('600')
    expect(machine.run('journalctl', '--unit=penstock', '--no-pager').stdout).not.toMatch(
      /shown only now|-of-this-very-test/,
    )
    expect(machine.run('/opt/penstock/bin/penstock', '--version').stdout.trim()).toBe(version)
  })

  test('it is started again if it is killed, and ends in order when it is stopped', async () => {
    const before = property('MainPID')
    expect(machine.run('systemctl', 'kill', '--signal=KILL', 'penstock').status).toBe(0)
    await until('another process is ready', async () => property('MainPID') !== before && (await isReady()), 60_000)
    expect(property('NRestarts')).toBe('1')
    const state = await fetch(`${service.managementUrl}/api/v1/ingest_auth/state`, {
      headers: { 'obs-api-key': firstSecrets.apiKey },
    })
    expect(await state.json()).toMatchObject({ enabled: true })
    expect(machine.run('systemctl', 'stop', 'penstock').status).toBe(0)
    expect([property('Result'), property('ExecMainStatus'), property('ActiveState')]).toEqual([
      'success',
      '0',
      'inactive',
    ])
  })
})

/** Installs the package and the unit like docs/guides/installing.md, and returns the addresses and secrets that the service will have. */
async function install(root: MachineRoot, tarball: string, image: UnpackedImage): Promise<RunningService> {
  const at = (path: string) => join(root.path, path)
  copyFileSync(join(image.rootfs, 'usr/local/bin/node'), at('usr/local/bin/node'))
  chmodSync(at('usr/local/bin/node'), 0o755)
  // Install scripts would compile SQLite. The image has a compiled copy for the same version of Node.
  const args = [
    'install',
    '--global',
    '--prefix',
    at('opt/penstock'),
    '--no-audit',
    '--no-fund',
    '--prefer-offline',
    '--ignore-scripts',
    tarball,
  ]
  execFileSync('npm', args, { stdio: 'pipe' })
  const compiled = 'node_modules/better-sqlite3/build/Release/better_sqlite3.node'
  cpSync(join(image.rootfs, 'opt/penstock', compiled), at(`opt/penstock/lib/node_modules/penstock/${compiled}`))
  mkdirSync(at('etc/penstock'), { mode: 0o700 })
  const { listen, service } = await onFreePorts()
  writeFileSync(
    at('etc/penstock/environment'),
    Object.entries(listen)
      .map((pair) => `${pair.join('=')}\n`)
      .join(''),
  )
  for (const [name, value] of Object.entries({
    'obs-api-key': firstSecrets.apiKey,
    'root-token': firstSecrets.rootToken,
  })) {
    writeFileSync(at(`etc/penstock/${name}`), `${value}\n`, { mode: 0o600 })
  }
  writeFileSync(at('etc/systemd/system/penstock.service'), readFileSync(unit))
  execFileSync('systemctl', [`--root=${root.path}`, 'enable', 'penstock.service'], { stdio: 'pipe' })
  return service
}
