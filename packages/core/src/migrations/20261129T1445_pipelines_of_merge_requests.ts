import { type Migration, sql } from 'kysely'

/**
 * Keeps for which merge request a pipeline ran, and which commit of the source branch it tests. The merge request of earlier
 * records is read from their details or, if they name none, from their ref.
 */
export const migration: Migration = {
  async up(db) {
    await db.schema.alterTable('pipelines').addColumn('merge_request_iid', 'bigint').execute()
    await db.schema.alterTable('pipelines').addColumn('source_sha', 'text').execute()
    let last = 0
    for (;;) {
      const rows = await sql<{ id: number; ref: string | null; details: string }>`select id, ref, details from pipelines
        where id > ${last} and (details like '%"mergeRequest":{%' or ref like 'refs/merge-requests/%')
        order by id limit 1000`.execute(db)
      for (const { id, ref, details } of rows.rows) {
        const iid = mergeRequestIid(ref, details)
        if (iid === undefined) continue
        await sql`update pipelines set merge_request_iid = ${iid} where id = ${id}`.execute(db)
      }
      if (rows.rows.length === 0) break
      last = rows.rows.at(-1)!.id
    }
    await sql`create index pipelines_merge_request on pipelines (project_id, merge_request_iid, pipeline_id)
      where merge_request_iid is not null`.execute(db)
  },
}

function mergeRequestIid(ref: string | null, details: string): number | undefined {
  const { passedOn } = JSON.parse(details) as { passedOn?: { mergeRequest?: MergeRequestOfRecord } }
  const { iid, sourceProjectId: source, targetProjectId: target } = passedOn?.mergeRequest ?? {}
  // The project that ran the pipeline is unknown, and a merge request of a fork may have it in another project.
  if (source !== undefined && target !== undefined && source !== target) return undefined
  const iidInRef = /^refs\/merge-requests\/([1-9]\d{0,15})\/(?:head|merge|train)$/.exec(ref ?? '')?.[1]
  return iid ?? (iidInRef === undefined ? undefined : Number(iidInRef))
}

interface MergeRequestOfRecord {
  readonly iid?: number
  readonly sourceProjectId?: number
  readonly targetProjectId?: number
}
