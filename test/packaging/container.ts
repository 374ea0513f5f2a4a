import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import type { NeededProgram } from '../collector/program-suite.ts'
import { Sink } from '../command-line.ts'

const layout = join(import.meta.dirname, '../../dist/image')

/** Returns whether a program is installed. */
export const isInstalled = (program: string): boolean => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0

/** The programs and files that a suite needs to start containers of the image. */
export const neededForContainers: readonly NeededProgram[] = [
  { name: 'a root user', script: 'image', isBuilt: process.getuid?.() === 0 },
  { name: 'umoci', script: 'image', isBuilt: isInstalled('umoci') },
  { name: 'runc', script: 'image', isBuilt: isInstalled('runc') },
  { name: 'the image in dist/image', script: 'image', isBuilt: existsSync(join(layout, 'index.json')) },
]

/** The configuration of the image, as in the OCI image specification. */
export interface ImageConfig {
  readonly User: string
  readonly Env: readonly string[]
  readonly Entrypoint: readonly string[]
  readonly Cmd: readonly string[]
  readonly ExposedPorts: Readonly<Record<string, object>>
  readonly Volumes: Readonly<Record<string, object>>
  readonly Labels: Readonly<Record<string, string>>
}

// biome-ignore lint/suspicious/noExplicitAny: the test knows the shape of the documents
type Json = any

const blob = (digest: string): Json => JSON.parse(readFileSync(join(layout, 'blobs', digest.replace(':', '/')), 'utf8'))

/** Returns the digest, the manifest and the configuration of the image in dist/image. */
export function readImage(): { digest: string; manifest: Json; config: ImageConfig } {
  const [{ digest }] = JSON.parse(readFileSync(join(layout, 'index.json'), 'utf8')).manifests
  const manifest = blob(digest)
  return { digest, manifest, config: blob(manifest.config.digest).config }
}

/**
 * Checks that the image contains this package, so that tests do not run an older build.
 *
 * @throws {Error} if it contains another one
 */
export function requireFresh(tarball: string): void {
  const digest = createHash('sha256').update(readFileSync(tarball)).digest('hex')
  if (readImage().config.Labels['penstock.package.sha256'] !== digest) {
    throw new Error('the image is older than the build; run: npm run image')
  }
}

/** The unpacked files of the image. Containers share them, because none can write to them. */
export class UnpackedImage implements Disposable {
  readonly #directory = mkdtempSync(join(tmpdir(), 'penstock-unpacked-'))
  readonly rootfs = join(this.#directory, 'bundle/rootfs')
  readonly config = readImage().config

  constructor() {
    const [{ annotations }] = JSON.parse(readFileSync(join(layout, 'index.json'), 'utf8')).manifests
    const tag = annotations['org.opencontainers.image.ref.name']
    execFileSync('umoci', ['unpack', '--image', `${layout}:${tag}`, join(this.#directory, 'bundle')], { stdio: 'pipe' })
  }

  /** Returns a new directory for a volume, which only its owner can read. The owner is the user of the image by default. */
  volume(name: string, uid = 65_532, gid = uid): string {
    const directory = join(this.#directory, name)
    mkdirSync(directory)
    chownSync(directory, uid, gid)
    chmodSync(directory, 0o700)
    return directory
  }

  /** Returns a new directory with secret files that only the user of the image can read. */
  secrets(name: string, files: Readonly<Record<string, string>>): string {
    const directory = this.volume(name)
    for (const [file, content] of Object.entries(files)) {
      writeFileSync(join(directory, file), content)
      chownSync(join(directory, file), 65_532, 65_532)
      chmodSync(join(directory, file), 0o440)
    }
    return directory
  }

  [Symbol.dispose](): void {
    rmSync(this.#directory, { recursive: true, force: true })
  }
}

export interface Mount {
  readonly source: string
  readonly target: string
  readonly readOnly?: boolean
}

/**
 * The settings of a container, as in compose files and pods. The image has the defaults of `entrypoint`, `command`, `env` and `user`.
 */
export interface ContainerSettings {
  readonly entrypoint?: readonly string[]
  readonly command?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly user?: { readonly uid: number; readonly gid: number; readonly groups?: readonly number[] }
  readonly readOnlyRoot: boolean
  readonly capabilities?: readonly string[]
  readonly noNewPrivileges: boolean
  readonly tmpfs?: readonly string[]
  readonly mounts?: readonly Mount[]
  readonly memoryBytes?: number
}

/** The mounts that every container has. */
const systemMounts = [
  { destination: '/proc', type: 'proc', source: 'proc' },
  {
    destination: '/dev',
    type: 'tmpfs',
    source: 'tmpfs',
    options: ['nosuid', 'strictatime', 'mode=755', 'size=65536k'],
  },
  {
    destination: '/dev/shm',
    type: 'tmpfs',
    source: 'shm',
    options: ['nosuid', 'noexec', 'nodev', 'mode=1777', 'size=65536k'],
  },
]

/** A container that runc has started from the image, with the network of the host. */
export class Container implements AsyncDisposable {
  readonly id: string
  readonly stdout = new Sink()
  readonly stderr = new Sink()
  /** Resolves with the exit code of the process. */
  readonly ended: Promise<number | null>
  readonly #directory = mkdtempSync(join(tmpdir(), 'penstock-container-'))
  readonly #child: ChildProcess

  constructor(image: UnpackedImage, settings: ContainerSettings) {
    this.id = `penstock-test-${this.#directory.slice(-6)}`
    writeFileSync(join(this.#directory, 'config.json'), JSON.stringify(runtimeConfig(image, settings)))
    this.#child = spawn('runc', [...this.#state, 'run', '--bundle', this.#directory, this.id], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#removeWhenWeEnd()
    this.#child.stdout!.pipe(this.stdout)
    this.#child.stderr!.pipe(this.stderr)
    this.ended = new Promise((resolve) => this.#child.once('close', resolve))
  }

  get #state(): string[] {
    return ['--root', join(this.#directory, 'state')]
  }

  /** Removes the container when this process ends, even if it is killed: a second process waits until its pipe is closed. */
  #removeWhenWeEnd(): void {
    const script = 'read _; runc --root "$0" delete --force "$1"'
    const watcher = spawn('sh', ['-c', script, join(this.#directory, 'state'), this.id], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    })
    this.#child.once('close', () => watcher.kill('SIGKILL'))
  }

  /** Runs a command inside the container, as the health check of compose does. */
  exec(...command: readonly string[]): { status: number | null; stdout: string; stderr: string } {
    return spawnSync('runc', [...this.#state, 'exec', this.id, ...command], { encoding: 'utf8' })
  }

  /** Sends a signal to the process, and returns its exit code when it has ended. */
  async end(signal: 'TERM' | 'KILL' = 'TERM'): Promise<number | null> {
    spawnSync('runc', [...this.#state, 'kill', this.id, signal])
    return this.ended
  }

  async [Symbol.asyncDispose](): Promise<void> {
    spawnSync('runc', [...this.#state, 'delete', '--force', this.id])
    await this.ended
    rmSync(this.#directory, { recursive: true, force: true })
  }
}

function runtimeConfig(image: UnpackedImage, settings: ContainerSettings): object {
  const { User, Env, Entrypoint, Cmd } = image.config
  const [uid, gid] = User.split(':').map(Number)
  const user = settings.user ?? { uid: uid!, gid: gid! }
  const capabilities = settings.capabilities ?? []
  const own = settings.env ?? {}
  const env = [
    ...Env.filter((line) => !(line.split('=')[0]! in own)),
    ...Object.entries(own).map((pair) => pair.join('=')),
  ]
  return {
    ociVersion: '1.0.2',
    process: {
      user: { uid: user.uid, gid: user.gid, additionalGids: user.groups ?? [] },
      args: [...(settings.entrypoint ?? Entrypoint), ...(settings.command ?? (settings.entrypoint ? [] : Cmd))],
      env,
      cwd: '/',
      capabilities: { bounding: capabilities, effective: capabilities, permitted: capabilities },
      noNewPrivileges: settings.noNewPrivileges,
    },
    root: { path: image.rootfs, readonly: settings.readOnlyRoot },
    hostname: 'penstock',
    mounts: [
      ...systemMounts,
      ...(settings.tmpfs ?? []).map((destination) => ({
        ...{ destination, type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'nodev', 'mode=1777', 'size=64m'] },
      })),
      ...(settings.mounts ?? []).map(({ source, target, readOnly = false }) => ({
        ...{ destination: target, type: 'bind', source, options: ['rbind', 'nosuid', 'nodev', readOnly ? 'ro' : 'rw'] },
      })),
    ],
    linux: {
      namespaces: ['pid', 'ipc', 'uts', 'mount'].map((type) => ({ type })),
      ...(settings.memoryBytes !== undefined && { resources: { memory: { limit: settings.memoryBytes } } }),
      maskedPaths: ['/proc/kcore', '/proc/keys', '/proc/timer_list', '/sys/firmware'],
      readonlyPaths: ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'],
    },
  }
}
