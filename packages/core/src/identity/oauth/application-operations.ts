import { z } from 'zod'
import { DomainError } from '../../base/kit/domain-error.ts'
import { newObject, validate } from '../../base/kit/field-table.ts'
import type { Core, Tx } from '../../base/operations/context.ts'
import { unscopedCommand, unscopedQuery } from '../../base/operations/operation.ts'
import { newOpaqueSecret } from '../tokens/opaque-secret.ts'
import { digestOf } from '../tokens/token-text.ts'
import {
  type Application,
  type ApplicationDraft,
  type ApplicationWithSecret,
  applicationDraft,
  createApplicationInput,
  storedDraft,
  validateRedirectUris,
} from './application.ts'
import {
  countApplications,
  deleteApplication,
  findAllApplications,
  insertApplication,
  updateNameAndAddress,
  updateSecretDigest,
} from './application-store.ts'

/** Limited because the list has no pages. */
const MAX_APPLICATIONS = 1_000

export const createApplication = unscopedCommand(
  { name: 'createApplication', caller: 'administrator', input: createApplicationInput },
  async (tx, input): Promise<ApplicationWithSecret> => {
    const draft = newObject(applicationDraft, input)
    validate(applicationDraft, draft, { redirectUri: validateRedirectUris(draft.redirectUri) })
    return addApplication(tx, storedDraft(draft), { isTrusted: false })
  },
)

/** Lists all applications, without their secrets. */
export const listApplications = unscopedQuery(
  { name: 'listApplications', caller: 'administrator', input: z.object({}) },
  (context) => findAllApplications(context),
)

export const removeApplication = unscopedCommand(
  { name: 'removeApplication', caller: 'administrator', input: z.object({ id: z.int() }) },
  (tx, { id }) => dropApplication(tx, id),
)

/** Replaces the secret of an application. The previous secret stops working immediately; tokens stay valid. */
export const renewApplicationSecret = unscopedCommand(
  { name: 'renewApplicationSecret', caller: 'administrator', input: z.object({ id: z.int() }) },
  async (tx, { id }): Promise<ApplicationWithSecret> => {
    const secret = newClientSecret(tx.core)
    const application = await updateSecretDigest(tx, id, digestOf(secret))
    await tx.recordEvent({ type: 'oauth_application.secret_renewed', objectId: id })
    return { ...application, secret }
  },
)

/** Inserts an application with a new secret. @throws DomainError `refused` if there are too many */
export async function addApplication(
  tx: Tx & { readonly core: Core },
  draft: ApplicationDraft,
  { isTrusted }: Pick<Application, 'isTrusted'>,
): Promise<ApplicationWithSecret> {
  if ((await countApplications(tx)) >= MAX_APPLICATIONS) {
    throw new DomainError({ code: 'refused', message: `There are ${MAX_APPLICATIONS} applications already` })
  }
  const secret = newClientSecret(tx.core)
  const [uid, secretDigest] = [newOpaqueSecret(tx.core), digestOf(secret)]
  const application = await insertApplication(tx, { uid, secretDigest, draft, isTrusted })
  await tx.recordEvent({ type: 'oauth_application.created', objectId: application.id })
  return { ...application, secret }
}

/** Changes the name and the redirect URI of an application. */
export async function renameApplication(
  tx: Tx,
  id: number,
  draft: Pick<ApplicationDraft, 'name' | 'redirectUri'>,
): Promise<void> {
  await updateNameAndAddress(tx, id, draft)
  await tx.recordEvent({ type: 'oauth_application.updated', objectId: id })
}

/** Deletes an application with its codes and tokens. @throws DomainError `not_found` */
export async function dropApplication(tx: Tx, id: number): Promise<void> {
  await deleteApplication(tx, id)
  await tx.recordEvent({ type: 'oauth_application.removed', objectId: id })
}

const newClientSecret = (core: Core): string => `${core.settings.serviceName}oas-${newOpaqueSecret(core)}`
