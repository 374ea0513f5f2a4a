import type { AttributeTable } from '../base/attribute-table.ts'
import {
  ATTR_DEPLOYMENT_ENVIRONMENT,
  ATTR_DEPLOYMENT_ENVIRONMENT_NAME,
  ATTR_SERVICE_NAME,
  ATTR_SERVICE_VERSION,
  ATTR_SVC_REPOSITORY_ID,
  ATTR_VCS_OWNER_NAME,
  ATTR_VCS_PROVIDER_NAME,
  ATTR_VCS_REPOSITORY_NAME,
  ATTR_VCS_REPOSITORY_URL_FULL,
} from '../base/semconv.ts'
import { isGitlab } from '../run/identity.ts'
import type { PipelineRun } from '../run/run.ts'

/** The version of the telemetry's format: a constant of the interface, independent of the product's version. */
const TELEMETRY_VERSION = '1.0.0'

/** Attributes of the resource of all signals. */
export const resourceAttributes: AttributeTable<PipelineRun> = [
  {
    keys: [ATTR_SERVICE_NAME],
    type: 'string',
    from: ({ record, options }) =>
      options.resourceServiceName ?? record.project.name ?? `${options.vendorNamespace}-ci`,
    absent: 'never',
  },
  { keys: [ATTR_SERVICE_VERSION], type: 'string', from: () => TELEMETRY_VERSION, absent: 'never' },
  {
    // The first key is deprecated in semconv and required by the interface; the second is its replacement.
    keys: [ATTR_DEPLOYMENT_ENVIRONMENT, ATTR_DEPLOYMENT_ENVIRONMENT_NAME],
    type: 'string',
    from: ({ options }) => options.environment,
    absent: 'never',
  },
  {
    keys: [ATTR_VCS_PROVIDER_NAME],
    type: 'string',
    knownInJob: true,
    from: ({ record, options }) => (isGitlab(record.forge) ? options.providerName : record.forge),
    absent: 'never',
  },
  {
    keys: [ATTR_VCS_REPOSITORY_NAME],
    type: 'string',
    knownInJob: true,
    from: ({ record }) => record.project.name,
    needs: ['project.name'],
    absent: 'unknown',
  },
  {
    keys: [ATTR_SVC_REPOSITORY_ID],
    type: 'string',
    knownInJob: true,
    from: ({ record }) => record.project.id?.toString(),
    needs: ['project.id'],
    absent: 'unknown',
  },
  {
    keys: [ATTR_VCS_REPOSITORY_URL_FULL],
    type: 'string',
    knownInJob: true,
    from: ({ record }) => record.project.webUrl,
    needs: ['project.web_url', 'object_attributes.url'],
    absent: 'unknown',
  },
  {
    keys: [ATTR_VCS_OWNER_NAME],
    type: 'string',
    knownInJob: true,
    from: ({ record }) => ownerOf(record.project.path),
    needs: ['project.path_with_namespace'],
    absent: 'path unknown or of one segment',
  },
]

function ownerOf(path: string | undefined): string | undefined {
  const end = path?.lastIndexOf('/') ?? -1
  return end > 0 ? path?.slice(0, end) : undefined
}
