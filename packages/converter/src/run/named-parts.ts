import { type PipelineRecord, RecordError, type UnnamedPart } from '@penstock/forges/record'
import type { ConvertOptions } from '../base/options.ts'

type Names = Pick<ConvertOptions, UnnamedPart>

const partNames: Readonly<Record<UnnamedPart, string>> = { instanceId: 'server', project: 'repository' }
const flags: Readonly<Record<UnnamedPart, string>> = { instanceId: '--instance-id', project: '--project' }

/**
 * Returns the record with the project that the options name, for payloads that name none.
 *
 * @throws {RecordError} if the payload does not name its server or its repository, and the options do not either
 */
export function withNamedParts(record: PipelineRecord, options: Names): PipelineRecord {
  const missing = (record.unnamed ?? []).filter((part) => options[part] === undefined)
  if (missing.length > 0) {
    const parts = missing.map((part) => partNames[part]).join(' and ')
    const names = missing.join(' and ')
    const given = missing.map((part) => flags[part]).join(' and ')
    throw new RecordError(
      '',
      `a run of ${record.forge} does not name its ${parts}: set ${names} of the source, or ${given}`,
    )
  }
  const { project } = record
  if (options.project === undefined || project.path !== undefined || project.webUrl !== undefined) return record
  const path = options.project
  return { ...record, project: { ...project, path, name: project.name ?? path.slice(path.lastIndexOf('/') + 1) } }
}
