import { z } from 'zod'
import { DomainError } from '../kit/domain-error.ts'
import { newObject, validate } from '../kit/field-table.ts'
import type { Core } from '../operations/context.ts'
import { unscopedCommand, unscopedQuery } from '../operations/operation.ts'
import { digestOf } from '../tokens/token-text.ts'
import {
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
  updateSecretDigest,
} from './application-store.ts'
import { newOpaqueSecret } from './opaque-secret.ts'

/** Limited because the list has no pages. */
const MAX_APPLICATIONS = 1_000

export const createApplication = unscopedCommand(
  { name: 'createApplication', caller: 'administrator', input: createApplicationInput },
  async (tx, input): Promise<ApplicationWithSecret> => {
    const draft = newObject(applicationDraft, input)
    validate(applicationDraft, draft, { redirectUri: validateRedirectUris(draft.redirectUri) })
    if ((await countApplications(tx)) >= MAX_APPLICATIONS) {
      throw new DomainError({ code: 'refused', message: `There are ${MAX_APPLICATIONS} applications already` })
    }
    const secret = newClientSecret(tx.core)
    const [uid, secretDigest] = [newOpaqueSecret(tx.core), digestOf(secret)]
    const application = await insertApplication(tx, { uid, secretDigest, draft: storedDraft(draft) })
    await tx.recordEvent({ type: 'oauth_application.created', objectId: application.id })
    return { ...application, secret }
  },
)

/** Lists all applications, without their secrets. */
export const listApplications = unscopedQuery(
  { name: 'listApplications', caller: 'administrator', input: z.object({}) },
  (context) => findAllApplications(context),
)

export const removeApplication = unscopedCommand(
  { name: 'removeApplication', caller: 'administrator', input: z.object({ id: z.int() }) },
  async (tx, { id }) => {
    await deleteApplication(tx, id)
    await tx.recordEvent({ type: 'oauth_application.removed', objectId: id })
  },
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

const newClientSecret = (core: Core): string => `${core.settings.serviceName}oas-${newOpaqueSecret(core)}`
