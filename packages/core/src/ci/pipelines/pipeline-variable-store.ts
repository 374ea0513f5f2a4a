import type { ReadContext } from '../../base/kit/store-context.ts'
import type { OperationContext, Tx } from '../../base/operations/context.ts'
import { newNonce, sealText, unsealText } from '../../base/secrets/sealed-text.ts'
import type { Pipeline, RecordedVariable } from './pipeline.ts'

declare module '../../base/kit/tables.ts' {
  interface CoreTables {
    pipeline_variables: PipelineVariablesTable
  }
}

interface PipelineVariablesTable {
  pipeline_key: number
  /** JSON of the variables, encrypted with AES-256-GCM and bound to the project and the pipeline. */
  sealed: string
}

type PipelineKey = Pick<Pipeline, 'key' | 'id' | 'projectId'>

const placeOf = ({ projectId, id }: PipelineKey): string[] => ['pipeline_variables', String(projectId), String(id)]

/** Replaces the variables of a pipeline. */
export async function setPipelineVariables(
  { db, core }: OperationContext & Tx,
  pipeline: PipelineKey,
  variables: readonly RecordedVariable[],
): Promise<void> {
  const { key } = pipeline
  if (variables.length === 0) {
    await db.deleteFrom('pipeline_variables').where('pipeline_key', '=', key).execute()
    return
  }
  const text = JSON.stringify(variables)
  const sealed = sealText(core.settings.secretsKey, newNonce(core.randomBytes), placeOf(pipeline), text)
  await db
    .insertInto('pipeline_variables')
    .values({ pipeline_key: key, sealed })
    .onConflict((conflict) => conflict.column('pipeline_key').doUpdateSet({ sealed }))
    .execute()
}

/** Returns the variables of a pipeline in the order of its record. */
export async function pipelineVariables(
  { db, core }: OperationContext & ReadContext,
  pipeline: PipelineKey,
): Promise<RecordedVariable[]> {
  const row = await db
    .selectFrom('pipeline_variables')
    .select('sealed')
    .where('pipeline_key', '=', pipeline.key)
    .executeTakeFirst()
  if (row === undefined) return []
  return JSON.parse(unsealText(core.settings.secretsKey, placeOf(pipeline), row.sealed)) as RecordedVariable[]
}
