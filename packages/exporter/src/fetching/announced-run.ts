import { createHash } from 'node:crypto'
import { isObject, parseLossless, RecordError, type RunReference } from '@penstock/forges'
import type { SourceApi } from '../sources/source-api.ts'
import { type Source, sourceScope } from '../sources/sources.ts'
import type { NewFetch } from '../store/fetch-store.ts'

/** Hooks that list no jobs are far smaller. */
const MAX_HOOK_BYTES = 1024 * 1024

/** Returns the run that the body of a hook is about; `undefined` if it names none, or is no hook. */
export function findAnnouncedRun({ forgeApi }: SourceApi, bytes: Buffer): RunReference | undefined {
  if (bytes.length > MAX_HOOK_BYTES) return undefined
  try {
    const hook = parseLossless(bytes.toString())
    return isObject(hook) ? forgeApi.findRun?.(hook)?.reference : undefined
  } catch (error) {
    if (error instanceof RecordError) return undefined
    throw error
  }
}

/** Returns the fetch of a run that a hook names. A hook that is delivered again has the same key. */
export function namedRunFetch(
  source: Source,
  reference: RunReference,
  bytes: Buffer,
  receivedAtNs: bigint,
): Omit<NewFetch, 'body'> & { readonly body: undefined } {
  const scope = sourceScope(source)
  const key = `${scope} hook ${createHash('sha256').update(bytes).digest('base64url')}`
  return { key, deliveryKey: key, scope, reference: JSON.stringify(reference), body: undefined, receivedAtNs }
}
