import { DomainError, notFound } from '../../base/kit/domain-error.ts'
import { newObject, validate } from '../../base/kit/field-table.ts'
import type { ReadContext } from '../../base/kit/store-context.ts'
import { parentIds } from '../../base/model/parent.ts'
import { unscopedQuery } from '../../base/operations/operation.ts'
import { recordChange } from '../../base/operations/record-change.ts'
import { type OnParent, onGroupsAndProjects } from '../parents/parent-operations.ts'
import { newTokenText } from '../tokens/token-text.ts'
import {
  createDeployTokenInput,
  type DeployToken,
  deployTokenDraft,
  deployTokenEvents,
  deployTokenInput,
  deployTokenScopes,
  type IssuedDeployToken,
  listAllDeployTokensInput,
  listDeployTokensInput,
} from './deploy-token.ts'
import {
  countDeployTokens,
  deleteDeployToken,
  findDeployToken,
  insertDeployToken,
  pageOfDeployTokens,
} from './deploy-token-store.ts'

/** The limit of the tokens of a group or project. */
const MAX_DEPLOY_TOKENS = 1_000

export const { group: groupDeployTokens, project: projectDeployTokens } = onGroupsAndProjects(
  {
    noun: 'DeployToken',
    permissions: (kind) => ({
      read: 'read_deploy_token',
      write: kind === 'group' ? 'admin_group_deploy_token' : 'admin_deploy_token',
    }),
    isConditional: true,
  },
  (on) => ({
    list: on.list(listDeployTokensInput, (context, input) => pageOfDeployTokens(context, context.subject, input)),

    get: on.get(deployTokenInput, (context, { tokenId }) => getDeployToken(context, tokenId)),

    /** Creates a token. Its value is in the result and stored nowhere. */
    create: on.create(createDeployTokenInput, async (tx, { scopes: given, ...input }): Promise<IssuedDeployToken> => {
      const { core, subject } = tx
      const scopes = deployTokenScopes.filter((scope) => given.includes(scope))
      const draft = newObject(deployTokenDraft, { ...input, scopes })
      validate(deployTokenDraft, draft)
      if ((await countDeployTokens(tx, subject)) >= MAX_DEPLOY_TOKENS) {
        const message = `Maximum number of ${subject.kind} deploy tokens (${MAX_DEPLOY_TOKENS}) exceeded`
        throw new DomainError({ code: 'refused', message })
      }
      const value = newTokenText(`${core.settings.serviceName}dt-`, core.randomBytes)
      const token = await insertDeployToken(tx, subject, draft, value)
      await recordChange(tx, deployTokenEvents, 'created', { after: token, ...parentIds(subject) })
      return { ...token, value }
    }),

    remove: on.remove(deployTokenInput, async (tx, { tokenId }) => {
      const token = await getDeployToken(tx, tokenId)
      // A deploy token never changes.
      tx.requireUnmodified(token.createdAtMs)
      await deleteDeployToken(tx, token.id)
      await recordChange(tx, deployTokenEvents, 'removed', { before: token, ...parentIds(tx.subject) })
    }),
  }),
)

/** Lists the tokens of all groups and projects. */
export const listDeployTokens = unscopedQuery(
  { name: 'listDeployTokens', caller: 'administrator', input: listAllDeployTokensInput },
  (context, input) => pageOfDeployTokens(context, undefined, input),
)

async function getDeployToken(context: OnParent<ReadContext>, id: number): Promise<DeployToken> {
  const token = await findDeployToken(context, context.subject, id)
  if (token === undefined) throw notFound()
  return token
}
