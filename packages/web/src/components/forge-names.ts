/** The name of a forge, and two letters in place of its logo, which is a trademark. */
interface ForgeLook {
  readonly label: string
  readonly mark: string
}

/** The forges by the word in telemetry. */
const looks: ReadonlyMap<string, ForgeLook> = new Map([
  ['gitlab', { label: 'GitLab', mark: 'GL' }],
  ['github', { label: 'GitHub', mark: 'GH' }],
  ['gitea', { label: 'Gitea', mark: 'GT' }],
  ['forgejo', { label: 'Forgejo', mark: 'FJ' }],
  ['circleci', { label: 'CircleCI', mark: 'CC' }],
  ['buildkite', { label: 'Buildkite', mark: 'BK' }],
  ['azure', { label: 'Azure Pipelines', mark: 'AZ' }],
  ['bitbucket', { label: 'Bitbucket', mark: 'BB' }],
  ['woodpecker', { label: 'Woodpecker', mark: 'WP' }],
  ['drone', { label: 'Drone', mark: 'DR' }],
  ['jenkins', { label: 'Jenkins', mark: 'JE' }],
  ['penstock', { label: 'Penstock', mark: 'PE' }],
  ['cdevents', { label: 'CDEvents', mark: 'CD' }],
])

/** Returns the name and the letters of a forge. One that is unknown has the word of the telemetry as its name. */
export function forgeLook(forge: string): ForgeLook {
  const known = looks.get(forge)
  if (known !== undefined) return known
  const letters = [...forge.replaceAll(/[^\p{L}\p{N}]/gu, '')].slice(0, 2).join('').toUpperCase()
  return { label: forge, mark: letters === '' ? '?' : letters }
}

/** The part of a commit's URL between the repository and the hash. */
const commitPaths: Readonly<Record<string, string>> = {
  gitlab: '/-/commit/',
  github: '/commit/',
  gitea: '/commit/',
  forgejo: '/commit/',
  bitbucket: '/commits/',
}

/** Hosts of repositories, for systems that build repositories of other servers. */
const forgeByHost: ReadonlyMap<string, string> = new Map([
  ['github.com', 'github'],
  ['gitlab.com', 'gitlab'],
  ['bitbucket.org', 'bitbucket'],
  ['codeberg.org', 'forgejo'],
])

export interface CommitPlace {
  readonly forge: string | undefined
  readonly projectUrl: string | undefined
  readonly runUrl: string | undefined
  readonly sha: string | undefined
}

/** Returns the URL of a commit's page; `undefined` if the form of such URLs is not known. */
export function commitUrl({ forge = '', projectUrl, runUrl, sha }: CommitPlace): string | undefined {
  if (projectUrl === undefined || sha === undefined || !/^[\da-f]{7,64}$/i.test(sha)) return undefined
  if (!URL.canParse(projectUrl)) return undefined
  // An installation may have another name for its GitLab; its pages have this part.
  const named = runUrl?.includes('/-/pipelines/') ? 'gitlab' : forge
  const path = Object.hasOwn(commitPaths, named) ? named : forgeByHost.get(new URL(projectUrl).host)
  return path === undefined ? undefined : `${projectUrl.replace(/\/+$/, '')}${commitPaths[path]}${sha}`
}
