import { type AccessLevel, accessLevels } from '../../base/model/access-level.ts'
import type { User } from '../../base/model/user.ts'
import type { Core } from '../../base/operations/context.ts'
import { readContextOf } from '../../base/operations/context.ts'
import { type DirectGroup, directGroupsOf, groupPathsOf } from './user-groups-store.ts'

/** The facts about a user from which claims are made. */
interface Identity {
  readonly user: User
  readonly scopes: readonly string[]
  readonly externalUrl: string
  readonly groups: readonly string[]
  readonly directGroups: readonly DirectGroup[]
}

type Place = 'id_token' | 'userinfo'

interface Claim {
  readonly name: string
  /** The token needs one of these scopes. */
  readonly scopes: readonly string[]
  readonly in: readonly Place[]
  /** Returns the value; the claim is left out if it is `undefined`. */
  of(identity: Identity): unknown
}

const everywhere = ['id_token', 'userinfo'] as const
const identityScopes = ['openid', 'profile', 'email']
const profile = (name: string, of: Claim['of']): Claim => ({
  name,
  scopes: ['openid', 'profile'],
  in: ['userinfo'],
  of,
})

/** An ID token must stay short enough for a header. */
const MAX_GROUPS_IN_ID_TOKEN = 200

/** The claims about users, with GitLab's names. */
const claims: readonly Claim[] = [
  { name: 'sub', scopes: identityScopes, in: everywhere, of: ({ user }) => String(user.id) },
  profile('name', ({ user }) => user.name),
  profile('nickname', ({ user }) => user.username),
  profile('preferred_username', ({ user }) => user.username),
  { name: 'email', scopes: ['openid', 'email'], in: everywhere, of: (identity) => emailOf(identity) },
  // Addresses are always verified, because only administrators set them.
  {
    name: 'email_verified',
    scopes: ['openid', 'email'],
    in: everywhere,
    of: (identity) => (emailOf(identity) === undefined ? undefined : true),
  },
  profile('profile', ({ user, externalUrl }) => `${externalUrl}/${user.username}`),
  { name: 'groups', scopes: ['openid'], in: ['userinfo'], of: ({ groups }) => groups },
  {
    name: 'groups_direct',
    scopes: ['openid'],
    in: ['id_token'],
    of: ({ directGroups }) =>
      directGroups.length > MAX_GROUPS_IN_ID_TOKEN ? undefined : directGroups.map(({ fullPath }) => fullPath),
  },
  ...(['owner', 'maintainer', 'developer'] as const).map(
    (role): Claim => ({
      name: `https://gitlab.org/claims/groups/${role}`,
      scopes: ['openid'],
      in: ['userinfo'],
      of: ({ directGroups }) => pathsWith(directGroups, accessLevels[role]),
    }),
  ),
]

/** The names of all claims, without those of the protocol itself. */
export const claimNames: readonly string[] = claims.map(({ name }) => name)

/** A token needs one of these scopes to read claims. */
export const userinfoScopes: readonly string[] = identityScopes

const emailOf = ({ user, scopes }: Identity): string | undefined =>
  scopes.includes('email') ? user.email : user.publicEmail

function pathsWith(groups: readonly DirectGroup[], wanted: AccessLevel): string[] | undefined {
  const paths = groups.flatMap(({ fullPath, level }) => (level === wanted ? fullPath : []))
  return paths.length === 0 ? undefined : paths
}

/** Returns the claims about a user that a token with these scopes may have. */
export async function identityClaims(
  core: Core,
  place: Place,
  user: User,
  scopes: readonly string[],
): Promise<Record<string, unknown>> {
  const context = readContextOf(core)
  const hasGroups = scopes.includes('openid')
  const identity: Identity = {
    user,
    scopes,
    externalUrl: core.settings.externalUrl,
    groups: hasGroups && place === 'userinfo' ? await groupPathsOf(context, user.id) : [],
    directGroups: hasGroups ? await directGroupsOf(context, user.id) : [],
  }
  const granted = claims.filter(
    (claim) => claim.in.includes(place) && claim.scopes.some((scope) => scopes.includes(scope)),
  )
  const values = granted.map(({ name, of }) => [name, of(identity)] as const)
  return Object.fromEntries(values.filter(([, value]) => value !== undefined))
}
