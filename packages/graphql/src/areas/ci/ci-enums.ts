import { pipelineScopes, pipelineStatuses, variableTypes } from '@penstock/core'
import { valuesOf } from '../../schema/enums.ts'
import { oncePerBuilder } from '../../schema/once-per-builder.ts'

export const runnerTypes = ['instance_type', 'group_type', 'project_type'] as const
export type RunnerType = (typeof runnerTypes)[number]

const jobSources = [
  'api',
  'chat',
  'container_registry_push',
  'dependency_management_security_update',
  'duo_workflow',
  'external',
  'external_pull_request_event',
  'merge_request_event',
  'ondemand_dast_scan',
  'ondemand_dast_validation',
  'parent_pipeline',
  'pipeline',
  'pipeline_execution_policy',
  'pipeline_execution_policy_schedule',
  'push',
  'scan_execution_policy',
  'schedule',
  'security_orchestration_policy',
  'security_scan_profiles',
  'trigger',
  'unknown',
  'web',
  'webide',
] as const

const configSources = [
  'UNKNOWN_SOURCE',
  'REPOSITORY_SOURCE',
  'AUTO_DEVOPS_SOURCE',
  'WEBIDE_SOURCE',
  'REMOTE_SOURCE',
  'EXTERNAL_PROJECT_SOURCE',
  'BRIDGE_SOURCE',
  'PARAMETER_SOURCE',
  'COMPLIANCE_SOURCE',
  'SECURITY_POLICIES_DEFAULT_SOURCE',
  'SECURITY_SCAN_PROFILES_SOURCE',
  'PIPELINE_EXECUTION_POLICY_FORCED',
] as const

const artifactTypes = [
  'ACCESSIBILITY',
  'ANNOTATIONS',
  'API_FUZZING',
  'ARCHIVE',
  'BROWSER_PERFORMANCE',
  'CLUSTER_APPLICATIONS',
  'CLUSTER_IMAGE_SCANNING',
  'COBERTURA',
  'CODEQUALITY',
  'CONTAINER_SCANNING',
  'COVERAGE_FUZZING',
  'CYCLONEDX',
  'DAST',
  'DEPENDENCY_SCANNING',
  'DOTENV',
  'JACOCO',
  'JUNIT',
  'LICENSE_SCANNING',
  'LOAD_PERFORMANCE',
  'LSIF',
  'METADATA',
  'METRICS',
  'METRICS_REFEREE',
  'NETWORK_REFEREE',
  'PERFORMANCE',
  'REPOSITORY_XRAY',
  'REQUIREMENTS',
  'REQUIREMENTS_V2',
  'SARIF',
  'SAST',
  'SECRET_DETECTION',
  'TERRAFORM',
  'TRACE',
] as const

/** The enums of the CI areas. */
export const ciEnums = oncePerBuilder((builder) => ({
  pipelineStatus: builder.enumType('PipelineStatusEnum', { values: valuesOf(pipelineStatuses) }),
  jobStatus: builder.enumType('CiJobStatus', { values: valuesOf(pipelineStatuses) }),
  pipelineScope: builder.enumType('PipelineScopeEnum', { values: valuesOf(pipelineScopes) }),
  configSource: builder.enumType('PipelineConfigSourceEnum', { values: configSources }),
  mergeRequestEvent: builder.enumType('PipelineMergeRequestEventType', {
    values: ['DETACHED', 'MERGED_RESULT', 'MERGE_TRAIN'] as const,
  }),
  creationStatus: builder.enumType('CiPipelineCreationStatus', {
    values: ['IN_PROGRESS', 'SUCCEEDED', 'FAILED'] as const,
  }),
  jobKind: builder.enumType('CiJobKind', { values: valuesOf(['build', 'bridge']) }),
  jobSource: builder.enumType('CiJobSource', { values: valuesOf(jobSources) }),
  artifactType: builder.enumType('JobArtifactFileType', { values: artifactTypes }),
  runnerType: builder.enumType('CiRunnerType', { values: valuesOf(runnerTypes) }),
  runnerStatus: builder.enumType('CiRunnerStatus', {
    values: ['ONLINE', 'OFFLINE', 'STALE', 'NEVER_CONTACTED'] as const,
  }),
  runnerAccess: builder.enumType('CiRunnerAccessLevel', { values: ['NOT_PROTECTED', 'REF_PROTECTED'] as const }),
  variableType: builder.enumType('CiVariableType', { values: valuesOf(variableTypes) }),
}))
