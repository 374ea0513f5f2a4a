import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { World } from '@penstock/testkit'
import { gitdirPath, newDirectory } from '../../base/git/repository-directory.ts'
import { insertDirectory } from '../../base/git/repository-directory-store.ts'
import type { Project } from '../../base/model/project.ts'

/** A history that Git itself writes into the repository of a project, with one minute between commits. */
export class GitHistory {
  readonly gitdir: string
  readonly #workTree: string
  #minutes = 0

  static async create({ core, directory }: World, { id }: Pick<Project, 'id'>): Promise<GitHistory> {
    const repository = newDirectory(core, String(id))
    await core.db.write((db) => insertDirectory(db, { repository: String(id), directory: repository }))
    return new GitHistory(gitdirPath(core, repository), join(directory, `work-tree-${id}`))
  }

  private constructor(gitdir: string, workTree: string) {
    this.gitdir = gitdir
    this.#workTree = workTree
    mkdirSync(this.#workTree)
    execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', this.gitdir])
  }

  git(...args: string[]): string {
    const date = `${1_770_000_000 + this.#minutes * 60} +0000`
    const person = (role: string, name: string) => ({
      [`GIT_${role}_NAME`]: name,
      [`GIT_${role}_EMAIL`]: `${name.toLowerCase()}@example.test`,
      [`GIT_${role}_DATE`]: date,
    })
    const env = {
      PATH: process.env.PATH,
      GIT_DIR: this.gitdir,
      GIT_WORK_TREE: this.#workTree,
      GIT_CONFIG_NOSYSTEM: '1',
    }
    return execFileSync('git', ['-c', 'core.bare=false', ...args], {
      encoding: 'utf8',
      stdio: 'pipe',
      env: { ...env, ...person('AUTHOR', this.author), ...person('COMMITTER', 'Noor') },
      cwd: this.#workTree,
    }).trimEnd()
  }

  /** The author of the next commits. */
  author = 'Mira'

  /** Commits the contents of files, given by path, and returns the id of the commit. Null removes a file. */
  commit(files: Readonly<Record<string, string | null>>, message = 'Change'): string {
    for (const [path, content] of Object.entries(files)) {
      const file = join(this.#workTree, path)
      mkdirSync(dirname(file), { recursive: true })
      if (content === null) rmSync(file)
      else writeFileSync(file, content)
    }
    this.#minutes += 1
    this.git('add', '--all')
    this.git('commit', '--quiet', '--allow-empty', '--message', message)
    return this.git('rev-parse', 'HEAD')
  }

  /** Writes an object and returns its id. */
  object(type: string, content: string): string {
    const file = join(this.#workTree, '..', 'object')
    writeFileSync(file, content)
    return this.git('hash-object', '-t', type, '-w', '--no-filters', file)
  }

  merge(...branches: string[]): string {
    this.#minutes += 1
    this.git('merge', '--quiet', '--no-ff', '--message', `Merge ${branches.join()}`, ...branches)
    return this.git('rev-parse', 'HEAD')
  }
}
