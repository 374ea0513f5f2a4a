import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { killWhenWeEnd } from '../collector/child-program.ts'
import { freePort } from '../collector/free-port.ts'
import { giteaProgram } from './gitea-program.ts'

/** The address in payloads. It is not the one that the server listens on, so that recorded payloads are the same everywhere. */
export const PUBLIC_URL = 'https://gitea.example.com'
const START_DEADLINE_MS = 120_000
const CALL_DEADLINE_MS = 30_000
const POLL_MS = 50
/** Gitea refuses to run as root. */
const daemon = { name: 'daemon', uid: 1, gid: 1 }

/** An answer of the REST API. */
// biome-ignore lint/suspicious/noExplicitAny: callers know the shape of the answer
export type Answer = any

/** A Gitea with an administrator, in a directory of its own. */
export class GiteaServer implements AsyncDisposable {
  readonly #directory: string
  readonly #child: ChildProcess
  readonly #localUrl: string
  #token = ''
  #log = ''

  static async start(): Promise<GiteaServer> {
    const program = giteaProgram()
    if (program === undefined) throw new Error('Gitea is not built; run: npm run gitea')
    const server = new GiteaServer(program, await freePort())
    try {
      await server.#listening()
      server.#token = server.#createAdministrator()
      return server
    } catch (error) {
      await server[Symbol.asyncDispose]()
      throw new Error(`Gitea did not start: ${server.#log}`, { cause: error })
    }
  }

  private constructor(program: string, port: number) {
    this.#localUrl = `http://127.0.0.1:${port}`
    this.#directory = mkdtempSync(join(tmpdir(), 'penstock-gitea-'))
    // Another user cannot read the cache.
    copyFileSync(program, join(this.#directory, 'gitea'))
    chmodSync(join(this.#directory, 'gitea'), 0o755)
    cpSync(join(dirname(program), 'static'), join(this.#directory, 'static'), { recursive: true })
    mkdirSync(join(this.#directory, 'custom/conf'), { recursive: true })
    const settings = join(this.#directory, 'custom/conf/app.ini')
    writeFileSync(settings, settingsText(this.#directory, port))
    if (isRoot) for (const path of ['.', 'custom', 'custom/conf', 'custom/conf/app.ini']) this.#giveAway(path)
    this.#child = spawn('./gitea', ['web'], { ...this.#asUser, stdio: ['ignore', 'pipe', 'pipe'] })
    for (const output of [this.#child.stdout, this.#child.stderr])
      output?.on('data', (chunk) => {
        this.#log += chunk
      })
    killWhenWeEnd(this.#child)
  }

  /** The log since the start. */
  get log(): string {
    return this.#log
  }

  /** The address that the server listens on. */
  get localUrl(): string {
    return this.#localUrl
  }

  /** The local URL of a repository, with the administrator's credential for git. */
  cloneUrl(repository: string): string {
    return `${this.#localUrl.replace('http://', `http://${ADMIN}:${this.#token}@`)}/${repository}.git`
  }

  /** Calls the REST API as the administrator. @throws Error for any status but a success */
  async api(method: string, path: string, body?: object): Promise<Answer> {
    const response = await fetch(`${this.#localUrl}/api/v1${path}`, {
      method,
      headers: { Authorization: `token ${this.#token}`, ...(body && { 'Content-Type': 'application/json' }) },
      signal: AbortSignal.timeout(CALL_DEADLINE_MS),
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return text === '' ? undefined : JSON.parse(text)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed =
      this.#child.exitCode === null && this.#child.signalCode === null ? once(this.#child, 'close') : undefined
    this.#child.kill('SIGKILL')
    await closed
    rmSync(this.#directory, { recursive: true, force: true })
  }

  get #asUser() {
    const env = { PATH: process.env.PATH, HOME: this.#directory, USER: userName, GITEA_WORK_DIR: this.#directory }
    return { cwd: this.#directory, env, ...(isRoot && { uid: daemon.uid, gid: daemon.gid }) }
  }

  #giveAway(path: string): void {
    chownSync(join(this.#directory, path), daemon.uid, daemon.gid)
  }

  async #listening(): Promise<void> {
    const deadline = AbortSignal.timeout(START_DEADLINE_MS)
    for (;;) {
      if (this.#child.exitCode !== null) throw new Error(`it ended with ${this.#child.exitCode}`)
      const answer = await fetch(`${this.#localUrl}/api/healthz`, { signal: deadline }).catch(() => undefined)
      if (answer?.ok) return
      await sleep(POLL_MS, undefined, { signal: deadline })
    }
  }

  /** Returns an access token of the new administrator. */
  #createAdministrator(): string {
    const gitea = (...args: string[]) =>
      execFileSync('./gitea', ['admin', 'user', ...args], { ...this.#asUser, encoding: 'utf8', stdio: 'pipe' })
    const password = 'a password of the tests'
    gitea('create', '--admin', '--username', ADMIN, '--password', password, '--email', ADMIN_EMAIL)
    return gitea('generate-access-token', '--username', ADMIN, '--scopes', 'all', '--raw').trim()
  }
}

export const ADMIN = 'kai'
/** No e-mail address may be exported: tests search the telemetry for this word. */
export const ADMIN_EMAIL = 'canary-mail-90aa@example.com'
const isRoot = process.getuid?.() === 0
const userName = isRoot ? daemon.name : userInfo().username

const settingsText = (directory: string, port: number): string => `
RUN_USER = ${userName}
RUN_MODE = prod
WORK_PATH = ${directory}
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = ${port}
ROOT_URL = ${PUBLIC_URL}/
LOCAL_ROOT_URL = http://127.0.0.1:${port}/
STATIC_ROOT_PATH = ${directory}/static
DISABLE_SSH = true
OFFLINE_MODE = true
[database]
DB_TYPE = sqlite3
[security]
INSTALL_LOCK = true
[webhook]
ALLOWED_HOST_LIST = loopback
DELIVER_TIMEOUT = 120
[indexer]
ISSUE_INDEXER_TYPE = db
[cron]
ENABLED = false
[log]
LEVEL = warn
`
