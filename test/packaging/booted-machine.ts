import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { killWhenWeEnd } from '../collector/child-program.ts'
import { Sink } from '../command-line.ts'
import { until } from '../gateway/until.ts'

const cacheRoot = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'penstock')
const suite = 'bookworm'
/** The Debian packages of a small server: systemd, which is the first process, and the libraries of Node. */
const packages = ['systemd', 'systemd-sysv', 'dbus', 'libstdc++6', 'ca-certificates']

/** Returns the path of an archive of Debian with systemd. It is built once a month into the user's cache. */
function debianArchive(): string {
  const month = new Date().toISOString().slice(0, 7)
  const hash = createHash('sha256')
    .update(JSON.stringify([month, suite, packages]))
    .digest('hex')
  const cached = join(cacheRoot, `systemd-root-${hash.slice(0, 16)}.tar`)
  if (existsSync(cached)) return cached
  mkdirSync(cacheRoot, { recursive: true })
  const fresh = join(cacheRoot, `systemd-root-${process.pid}.tar`)
  execFileSync('mmdebstrap', ['--variant=minbase', '--mode=root', `--include=${packages.join(',')}`, suite, fresh], {
    stdio: 'pipe',
  })
  renameSync(fresh, cached)
  return cached
}

/** The root directory of a machine on which systemd is the first process. */
export class MachineRoot implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'penstock-machine-'))

  constructor() {
    execFileSync('tar', ['--extract', '--file', debianArchive(), '--directory', this.path])
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}

/** A machine that systemd-nspawn has booted, with the network of the host. */
export class BootedMachine implements AsyncDisposable {
  readonly console = new Sink()
  readonly #child: ChildProcess
  readonly #ended: Promise<unknown>

  constructor(root: MachineRoot) {
    const args = [`--directory=${root.path}`, '--boot', '--register=no', '--keep-unit', '--console=pipe', '--quiet']
    this.#child = spawn('systemd-nspawn', args, { stdio: ['ignore', 'pipe', 'pipe'] })
    killWhenWeEnd(this.#child)
    for (const stream of [this.#child.stdout!, this.#child.stderr!]) stream.pipe(this.console, { end: false })
    this.#ended = new Promise((resolve) => this.#child.once('close', resolve))
  }

  /** Runs a command inside the machine. */
  run(...command: readonly string[]): { status: number | null; stdout: string; stderr: string } {
    const args = ['--target', this.#firstProcess(), '--mount', '--pid', '--uts', '--ipc', '--', ...command]
    return spawnSync('nsenter', args, { encoding: 'utf8' })
  }

  /** Waits until systemd has started all units. @throws {Error} with the console's text if the machine ends before */
  async booted(): Promise<void> {
    const isBooted = () =>
      this.#child.exitCode !== null ||
      ['running', 'degraded'].includes(this.run('systemctl', 'is-system-running').stdout.trim())
    await until('systemd has started', isBooted, 60_000)
    if (this.#child.exitCode !== null) throw new Error(`the machine did not boot: ${this.console.text}`)
  }

  /** Returns the id of the first process of the machine, which is the child of systemd-nspawn. */
  #firstProcess(): string {
    const { pid } = this.#child
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0] || '0'
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.run('systemctl', 'poweroff', '--force', '--force')
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), 10_000)
    await this.#ended
    clearTimeout(timer)
  }
}
