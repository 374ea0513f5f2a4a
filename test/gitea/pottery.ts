import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ADMIN, ADMIN_EMAIL, type Answer, type GiteaServer } from './gitea-server.ts'
import { workflows } from './workflows.ts'

export const ORGANISATION = 'pottery'
export const REPOSITORY = `${ORGANISATION}/wheel`
export const SECRET = 'the secret of the hooks'

/** The three kinds of webhooks, which are the sources of their hooks, and the API that adds each. */
export const hookApis = {
  repository: { path: `/repos/${REPOSITORY}/hooks`, config: {} },
  organisation: { path: `/orgs/${ORGANISATION}/hooks`, config: {} },
  system: { path: '/admin/hooks', config: { is_system_webhook: 'true' } },
} as const
export type HookKind = keyof typeof hookApis
export const hookKinds = Object.keys(hookApis) as HookKind[]

/** A repository of an organisation on a real server, and a clone of it. */
export class Pottery implements Disposable {
  readonly #gitea: GiteaServer
  readonly #clone: string

  /** Creates the repository with its workflows, which run only after `push`. */
  static async create(gitea: GiteaServer): Promise<Pottery> {
    await gitea.api('POST', '/orgs', { username: ORGANISATION })
    await gitea.api('POST', `/orgs/${ORGANISATION}/repos`, { name: 'wheel', default_branch: 'main' })
    return new Pottery(gitea)
  }

  private constructor(gitea: GiteaServer) {
    this.#gitea = gitea
    this.#clone = mkdtempSync(join(tmpdir(), 'penstock-pottery-'))
    this.#git('init', '-q', '-b', 'main')
    this.#git('remote', 'add', 'origin', gitea.cloneUrl(REPOSITORY))
    mkdirSync(join(this.#clone, '.gitea/workflows'), { recursive: true })
    for (const [file, text] of Object.entries(workflows)) this.write(`.gitea/workflows/${file}`, text)
  }

  /** Adds webhooks about runs and jobs, each with its kind as the last part of its URL. */
  async addHooks(url: string, kinds: readonly HookKind[] = hookKinds): Promise<void> {
    for (const kind of kinds) {
      const { path, config } = hookApis[kind]
      await this.#gitea.api('POST', path, {
        type: 'gitea',
        active: true,
        events: ['workflow_run', 'workflow_job'],
        config: { url: `${url}/${kind}`, content_type: 'json', secret: SECRET, ...config },
      })
    }
  }

  write(file: string, text: string): void {
    writeFileSync(join(this.#clone, file), text)
  }

  /** Commits all changes to the current branch and pushes it. */
  push(message: string, branch = 'main'): void {
    this.#git('add', '.')
    this.#git('commit', '-q', '-m', message)
    this.#git('push', '-q', 'origin', branch)
  }

  pushTag(tag: string): void {
    this.#git('tag', tag)
    this.#git('push', '-q', 'origin', tag)
  }

  /** Pushes a change to a new branch, and opens a pull request for it. */
  async openPullRequest(branch: string): Promise<void> {
    this.#git('checkout', '-q', '-b', branch)
    this.write('speed.txt', 'slower\n')
    this.push('Spin slower', branch)
    const draft = { title: 'Spin slower', head: branch, base: 'main' }
    await this.#gitea.api('POST', `/repos/${REPOSITORY}/pulls`, draft)
  }

  /** Returns the answers of REST about a run. */
  async bundle(runId: string | number): Promise<Bundle> {
    const actions = `/repos/${REPOSITORY}/actions`
    const run = await this.#gitea.api('GET', `${actions}/runs/${runId}`)
    const jobs = await this.#gitea.api('GET', `${actions}/runs/${runId}/jobs`)
    const workflow = await this.#gitea.api('GET', `${actions}/workflows/${run.path.split('@')[0]}`)
    return { run, jobs, workflow }
  }

  /** Returns the id of the only job of a run that runs now. */
  async runningJobId(runId: string): Promise<number> {
    const { jobs } = await this.#gitea.api('GET', `/repos/${REPOSITORY}/actions/runs/${runId}/jobs`)
    const running = (jobs as Answer[]).filter(({ status }) => status === 'in_progress')
    if (running.length !== 1) throw new Error(`${running.length} jobs of run ${runId} are running`)
    return running[0].id
  }

  async rerunFailedJobs(runId: string | number): Promise<void> {
    await this.#gitea.api('POST', `/repos/${REPOSITORY}/actions/runs/${runId}/rerun-failed-jobs`)
  }

  [Symbol.dispose](): void {
    rmSync(this.#clone, { recursive: true, force: true })
  }

  #git(...args: readonly string[]): void {
    const author = ['-c', `user.name=${ADMIN}`, '-c', `user.email=${ADMIN_EMAIL}`]
    execFileSync('git', [...author, ...args], { cwd: this.#clone, stdio: 'pipe' })
  }
}

/** The answers of REST about a run. */
export interface Bundle {
  readonly run: Answer
  readonly jobs: Answer
  readonly workflow: Answer
}
