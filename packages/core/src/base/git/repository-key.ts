import { nextIid } from '../kit/internal-id.ts'
import type { RepositoryContext } from './repository-context.ts'

/**
 * The beginning of the names of each kind, which is also the directory of their repositories. Equal ids of different kinds do not
 * collide, because every kind except `project` has a directory of its own.
 */
const directories = {
  project: '',
  snippet: 'snippets/',
  group_wiki: 'group-wikis/',
  project_wiki: 'project-wikis/',
} as const

type RepositoryKind = keyof typeof directories

/** The owner of a repository: its kind, and the id of the project, snippet or group. */
export interface RepositoryKey {
  readonly kind: RepositoryKind
  readonly id: number
}

/** The folders of repositories, relative to the directory of all repositories: '' or with `/` at the end. */
export const repositoryFolders: readonly string[] = Object.values(directories)

/** Returns the name under which the database knows a repository: `5`, `snippets/31`. */
export const repositoryNameOf = ({ kind, id }: RepositoryKey): string => `${directories[kind]}${id}`

/**
 * Returns an id for a new object with a repository, before its rows are stored. No id is returned twice.
 *
 * @see docs/contributing/decisions/0015-changes-of-repositories.md
 */
export const nextRepositoryId = ({ db }: Pick<RepositoryContext, 'db'>, kind: 'snippet'): Promise<number> =>
  db.write((tx) => nextIid({ db: tx }, 'instance', kind))
