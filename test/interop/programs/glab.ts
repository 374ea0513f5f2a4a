import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { preparedPaths } from '../prepared.ts'
import { CORE_URL, type Outcome, type ProgramHost } from './program-host.ts'

const { host: HOST_NAME } = new URL(CORE_URL)

const configOf = (token: string) => `check_update: false
api_protocol: http
git_protocol: http
host: ${HOST_NAME}
hosts:
  ${HOST_NAME}:
    token: ${token}
    api_host: ${HOST_NAME}
    api_protocol: http
    git_protocol: http
    user: root
`

/** glab in a git checkout of one project, configured for the core. */
export class Glab {
  readonly #host: ProgramHost
  readonly #program: string
  readonly #config: string

  constructor(host: ProgramHost, project: string) {
    this.#host = host
    this.#program = preparedPaths().glab
    this.#config = join(host.directory, 'glab')
    mkdirSync(this.#config, { mode: 0o700 })
    writeFileSync(join(this.#config, 'config.yml'), configOf(host.core.rootToken), { mode: 0o600 })
    const git = (...args: string[]) => execFileSync('git', args, { cwd: host.directory })
    git('init', '--quiet', '--initial-branch=main')
    git('remote', 'add', 'origin', `${CORE_URL}/${project}.git`)
  }

  run(...args: string[]): Promise<Outcome> {
    return this.#host.run(this.#program, args, { env: { GLAB_CONFIG_DIR: this.#config, NO_PROMPT: '1' } })
  }

  /** Runs a command that must succeed, and returns what it printed. */
  async said(...args: string[]): Promise<string> {
    const { stdout, stderr } = await this.#succeed(args)
    return stdout + stderr
  }

  /** Runs a command that prints JSON; some print a line of text before it. */
  async json(...args: string[]): Promise<unknown> {
    const { stdout } = await this.#succeed(args)
    return JSON.parse(stdout.slice(stdout.search(/^[[{]/m)))
  }

  async #succeed(args: readonly string[]): Promise<Outcome> {
    const outcome = await this.run(...args)
    if (outcome.code === 0) return outcome
    throw new Error(`glab ${args.join(' ')} ended with ${outcome.code}: ${outcome.stderr}${outcome.stdout}`)
  }
}
